// SPDX-License-Identifier: BSD-3-Clause
// The best of all lower bounds on hop-bytes that a problem is small enough for.
#pragma once

#include <cstdint>
#include <string_view>

#include "topoloom/base/budget.hpp"
#include "topoloom/bound/bound_problem.hpp"

namespace topoloom {

struct HopBytesBound {
    std::int64_t value = 0;
    std::string_view by = "sparse";  // sparse, gilmore-lawler, projection or dual-ascent
};

/// Tries one after the other, the cheapest first; the budget is that of dual ascent, the last. Once it is spent, as from
/// the start, only those are tried that take about a second.
[[nodiscard]] HopBytesBound hop_bytes_bound(const BoundProblem& problem, Meter& meter);

}  // namespace topoloom
