// SPDX-License-Identifier: BSD-3-Clause
// Computes many distances between ranks on a machine.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/balance/near/matching.hpp"
#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// Distance of each rank to the next rank of the list.
[[nodiscard]] std::vector<std::uint32_t> distances_along(const Machine& machine, std::span<const Slot> slots,
                                                         std::span<const std::uint32_t> ranks);

/// Distance from each rank of `from` to each rank of `to`, row by row.
[[nodiscard]] std::vector<std::uint32_t> distances_between(const Machine& machine,
                                                           std::span<const Slot> slots,
                                                           std::span<const std::uint32_t> from,
                                                           std::span<const std::uint32_t> to);

/// Distance from the sender to the receiver of each shipment.
[[nodiscard]] std::vector<std::uint32_t> shipment_distances(std::span<const Shipment> shipments,
                                                            std::span<const std::uint32_t> ranks,
                                                            const Machine& machine,
                                                            std::span<const Slot> slots);

}  // namespace topoloom
