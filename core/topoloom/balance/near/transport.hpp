// SPDX-License-Identifier: BSD-3-Clause
// Minimum-cost transport of surplus to deficits; the cost is tasks times distance.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/balance/near/matching.hpp"
#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// Whether the cheapest transport takes less than a second: at most 2^22 pairs of a giver and a receiver; and whether its sums
/// of distances and of tasks fit.
[[nodiscard]] bool is_small(const NearExcess& near, const Machine& machine);

/// The transportation simplex, from match_near(). Shipments have no cycles. Only for what is_small().
[[nodiscard]] std::vector<Shipment> cheapest_transport(const NearExcess& near, const Machine& machine,
                                                       std::span<const Slot> slots);

}  // namespace topoloom
