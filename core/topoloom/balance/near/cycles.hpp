// SPDX-License-Identifier: BSD-3-Clause
// Makes the graph of shipments acyclic.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/balance/near/matching.hpp"

namespace topoloom {

/// Around each cycle, tasks go by one half of its shipments instead of the other, the dearer one, until a shipment is gone: that
/// costs nothing and saves a message. `costs` are of a task, by shipment. Every rank must be a giver or a receiver, not both.
/// O(shipments + ranks on cycles).
[[nodiscard]] std::vector<Shipment> remove_cycles(std::vector<Shipment> shipments, std::size_t ranks,
                                                  std::span<const std::uint32_t> costs);

}  // namespace topoloom
