// SPDX-License-Identifier: BSD-3-Clause
// Limits the number of ranks that one receives from.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/balance/near/matching.hpp"

namespace topoloom {

/// A receiver of too many is given all by the first `most` of its givers; these are given what is not theirs by the others, and
/// so on: a chain where `most` is 1. As many messages as before, and the same loads after them; more tasks move. Shipments must
/// have no cycles, and none gives what it does not hold as long as no rank lacks more than its share. O(ranks log ranks).
[[nodiscard]] std::vector<Shipment> limit_receives(std::vector<Shipment> shipments, std::size_t ranks,
                                                   std::uint32_t most);

}  // namespace topoloom
