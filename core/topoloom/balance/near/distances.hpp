// SPDX-License-Identifier: BSD-3-Clause
// Distances between ranks on a machine, many at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/balance/near/matching.hpp"
#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// Distance of each rank to the next one of the list.
[[nodiscard]] std::vector<std::uint32_t> distances_along(const Machine& machine, std::span<const Slot> slots,
                                                         std::span<const std::uint32_t> ranks);

/// From each of `from` to each of `to`, row by row.
[[nodiscard]] std::vector<std::uint32_t> distances_between(const Machine& machine,
                                                           std::span<const Slot> slots,
                                                           std::span<const std::uint32_t> from,
                                                           std::span<const std::uint32_t> to);

/// From each giver to its receiver.
[[nodiscard]] std::vector<std::uint32_t> distances_of(std::span<const Shipment> shipments,
                                                      std::span<const std::uint32_t> ranks,
                                                      const Machine& machine, std::span<const Slot> slots);

}  // namespace topoloom
