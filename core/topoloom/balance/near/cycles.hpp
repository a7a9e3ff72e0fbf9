// SPDX-License-Identifier: BSD-3-Clause
// Makes the graph of shipments acyclic.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/balance/near/matching.hpp"

namespace topoloom {

/// Removes cycles. On each cycle, every second shipment shrinks and the others grow until one is empty. The
/// more expensive half shrinks, so the cost never rises, and a message is saved. `costs` are per task, by
/// shipment. No rank may be both sender and receiver. O(shipments + ranks on cycles).
[[nodiscard]] std::vector<Shipment> remove_cycles(std::vector<Shipment> shipments, std::size_t ranks,
                                                  std::span<const std::uint32_t> costs);

}  // namespace topoloom
