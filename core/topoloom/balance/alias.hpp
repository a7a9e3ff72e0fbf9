// SPDX-License-Identifier: BSD-3-Clause
// The alias method: every rank with a deficit receives all its tasks from a single rank.
#pragma once

#include <cstdint>
#include <span>

#include "topoloom/balance/plan.hpp"

namespace topoloom {

/// The final loads if the sum of all loads is not divisible by the number of ranks.
enum class Remainder {
    phantoms,  // loads end at the ceiling k of the mean, at k-1, or at k-2
    exact      // at k or k-1; and a rank that is down to its share gives no more, which saves messages
};

/// Ranks with a surplus, in the given order, each fill the deficits of whole receivers. A sender that thereby
/// falls below its target becomes a receiver of the next sender. No rank sends tasks that it did not have
/// before, and no rank receives from two ranks. At most ranks - 1 messages are sent. O(ranks). Phantom tasks
/// pad the sum to a multiple of the number of ranks; the lowest ranks have one each. Source: Sudheer 2012,
/// ch. 5, alg. 1; derived from Walker's alias method (ACM TOMS 3, 1977).
[[nodiscard]] Plan alias_plan(std::span<const std::int64_t> loads, Remainder remainder,
                              std::span<const std::uint32_t> order);

}  // namespace topoloom
