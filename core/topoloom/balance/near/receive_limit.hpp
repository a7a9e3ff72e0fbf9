// SPDX-License-Identifier: BSD-3-Clause
// Limits the number of ranks from which a rank receives.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/balance/near/matching.hpp"

namespace topoloom {

/// A receiver with more than `most` senders receives everything from its first `most` senders; the remaining
/// senders ship to these instead, and so on; `most` = 1 gives a chain. Messages and final loads stay the
/// same; more tasks move. Shipments must have no cycles. No rank sends tasks that it does not have, provided
/// that no deficit is larger than the target of its rank. O(ranks log ranks).
[[nodiscard]] std::vector<Shipment> limit_receives(std::vector<Shipment> shipments, std::size_t ranks,
                                                   std::uint32_t most);

}  // namespace topoloom
