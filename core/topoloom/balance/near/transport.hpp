// SPDX-License-Identifier: BSD-3-Clause
// Minimum-cost transport of surplus to deficits; the cost is the sum of tasks times distance.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/balance/near/matching.hpp"
#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// Whether computing the cheapest transport takes less than a second: if there are at most 2^22 pairs of a
/// sender and a receiver, and sums of distances and tasks cannot overflow.
[[nodiscard]] bool is_transport_affordable(const OrderedExcess& near, const Machine& machine);

/// Runs the transportation simplex, starting from match_near(). Shipments have no cycles. Requires
/// is_transport_affordable().
[[nodiscard]] std::vector<Shipment> cheapest_transport(const OrderedExcess& near, const Machine& machine,
                                                       std::span<const Slot> slots);

}  // namespace topoloom
