// SPDX-License-Identifier: BSD-3-Clause
// Improves shipments between many ranks within windows of the order.
#pragma once

#include <span>
#include <vector>

#include "topoloom/balance/near/matching.hpp"
#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// Replaces the shipments within each window by the cheapest transport with the same final loads; then
/// repeats this with windows that are shifted across the boundaries of the first ones. Windows are so narrow
/// that all take about a second; if there are too many ranks for any useful width, nothing changes. Cycles of
/// shipments that this may create are removed at no cost. The result does not depend on the number of
/// threads.
[[nodiscard]] std::vector<Shipment> improve_in_windows(std::vector<Shipment> shipments,
                                                       const OrderedExcess& near, const Machine& machine,
                                                       std::span<const Slot> slots);

}  // namespace topoloom
