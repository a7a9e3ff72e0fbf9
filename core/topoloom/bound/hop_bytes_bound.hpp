// SPDX-License-Identifier: BSD-3-Clause
// Computes the best affordable lower bound on hop-bytes.
#pragma once

#include <cstdint>
#include <string_view>

#include "topoloom/base/budget.hpp"
#include "topoloom/bound/bound_problem.hpp"

namespace topoloom {

struct HopBytesBound {
    std::int64_t value = 0;
    std::string_view by = "sparse";  // sparse, cuts, gilmore-lawler, projection or dual-ascent
};

/// Tries bounds from cheap to expensive, as long as the budget has room for them; dual ascent, the last,
/// spends it. The first two, sparse and cuts, need no budget.
[[nodiscard]] HopBytesBound hop_bytes_bound(const BoundProblem& problem, Meter& meter);

}  // namespace topoloom
