// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/bound/hop_bytes_bound.hpp"

#include <optional>

#include "topoloom/base/step_budget.hpp"
#include "topoloom/bound/dense_bounds.hpp"
#include "topoloom/bound/hop_bytes_cut_bound.hpp"
#include "topoloom/bound/sparse_bound.hpp"

namespace topoloom {

HopBytesBound hop_bytes_bound(const BoundProblem& problem, Meter& meter) {
    // Maximum of ranks times locations for proofs that take about half a minute.
    constexpr std::uint64_t max_pairs = std::uint64_t{1} << 22;
    HopBytesBound best{bound::sparse_bound(problem), "sparse"};
    const auto take = [&](std::optional<std::int64_t> value, std::string_view by) {
        if (value && *value > best.value) best = {*value, by};
    };
    take(bound::cut_sum_bound(problem), "cuts");
    const std::uint64_t pairs = problem.rank_count() * problem.total_capacity();
    if (pairs > max_pairs) return best;
    constexpr double assignment_work = 16;  // per pair; measured
    if (spend_step(meter, assignment_work * static_cast<double>(pairs)))
        take(bound::gilmore_lawler_bound(problem), "gilmore-lawler");
    const auto order = static_cast<double>(problem.total_capacity());
    if (spend_step(meter, order * order * order / 2)) take(bound::projection_bound(problem), "projection");
    take(bound::dual_ascent_bound(problem, meter), "dual-ascent");
    return best;
}

}  // namespace topoloom
