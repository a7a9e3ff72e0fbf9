// SPDX-License-Identifier: BSD-3-Clause
// Improves shipments between many ranks within windows of the order.
#pragma once

#include <span>
#include <vector>

#include "topoloom/balance/near/matching.hpp"
#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// Replaces the shipments within each window by the cheapest transport with the same final loads; then
/// repeats this for windows shifted across the ends of the first ones. The width of a window is limited to
/// about a second of work; with too many ranks for any useful width, nothing changes. Cycles of shipments
/// that this may create are removed at no cost. The result does not depend on the number of threads.
[[nodiscard]] std::vector<Shipment> improve_in_windows(std::vector<Shipment> shipments,
                                                       const NearExcess& near, const Machine& machine,
                                                       std::span<const Slot> slots);

}  // namespace topoloom
