// SPDX-License-Identifier: BSD-3-Clause
// Improves shipments of many ranks in windows of the order.
#pragma once

#include <span>
#include <vector>

#include "topoloom/balance/near/matching.hpp"
#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// What ranks of one window ship to each other is replaced by the cheapest transport that ends the same; then the same in windows
/// that lie across the ends of the first. Windows are as wide as about a second of work allows; nothing is done where ranks are
/// too many for any that gains something. Shipments that close a cycle, of which there may then be some, are
/// undone at no cost. The same result for any number of threads.
[[nodiscard]] std::vector<Shipment> improve_in_windows(std::vector<Shipment> shipments,
                                                       const NearExcess& near, const Machine& machine,
                                                       std::span<const Slot> slots);

}  // namespace topoloom
