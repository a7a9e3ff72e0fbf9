// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/bound/hop_bytes_bound.hpp"

#include "topoloom/bound/dense_bounds.hpp"

#include <optional>

#include "topoloom/bound/hop_bytes_cut_bound.hpp"
#include "topoloom/bound/sparse_bound.hpp"

namespace topoloom {

HopBytesBound hop_bytes_bound(const BoundProblem& problem, Meter& meter) {
    // Maximum of ranks times locations for proofs that take about a second, and for those of about half a
    // minute.
    constexpr std::uint64_t few_pairs = std::uint64_t{1} << 18, max_pairs = std::uint64_t{1} << 22;
    HopBytesBound best{bound::sparse_bound(problem), "sparse"};
    const auto take = [&](std::optional<std::int64_t> value, std::string_view by) {
        if (value && *value > best.value) best = {*value, by};
    };
    take(bound::cut_sum_bound(problem), "cuts");
    const std::uint64_t pairs = problem.rank_count() * problem.total_capacity();
    if (pairs > max_pairs || (pairs > few_pairs && !meter.poll())) return best;
    take(bound::gilmore_lawler_bound(problem), "gilmore-lawler");
    take(bound::projection_bound(problem), "projection");
    if (meter.poll()) take(bound::dual_ascent_bound(problem, meter), "dual-ascent");
    return best;
}

}  // namespace topoloom
