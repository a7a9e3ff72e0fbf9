// SPDX-License-Identifier: BSD-3-Clause
// The alias method: every rank that lacks tasks is given all of them by one other.
#pragma once

#include <cstdint>
#include <span>

#include "topoloom/balance/plan.hpp"

namespace topoloom {

/// The final loads if the number of ranks does not divide their sum.
enum class Remainder {
    phantoms,  // at the ceiling k of their mean, at k-1, or at k-2
    exact      // at k or k-1; and a rank that is down to its share gives no more, which saves messages
};

/// In the order given, ranks with a surplus serve the ranks with a deficit in full; one that has given so much that it
/// falls below its share is served by the next. No rank gives tasks that it did not hold before, or receives from two;
/// at most ranks - 1 messages. O(ranks). Phantoms are tasks that make up for the remainder; the lowest ranks hold one each.
/// Source: Sudheer 2012, ch. 5, alg. 1; after Walker's alias method (ACM TOMS 3, 1977).
[[nodiscard]] Plan alias_plan(std::span<const std::int64_t> loads, Remainder remainder,
                              std::span<const std::uint32_t> order);

}  // namespace topoloom
