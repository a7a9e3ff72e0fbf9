// SPDX-License-Identifier: BSD-3-Clause
// Memetic search for dense QAPs: parallel tabu searches with a shared pool.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "topoloom/base/budget.hpp"
#include "topoloom/qap/qap.hpp"

namespace topoloom::qap {

struct QapSolveOptions {
    std::uint64_t seed = 1;
    /// Number of threads; 0: one per core.
    int threads = 0;
    /// Value at which the search stops.
    std::int64_t target = std::numeric_limits<std::int64_t>::min();
    std::uint64_t iterations = std::numeric_limits<std::uint64_t>::max();  ///< total limit for all searches
};

struct QapResult {
    Permutation assignment;
    std::int64_t value;
};

/// Number of parallel searches, independent of the number of threads.
inline constexpr std::size_t qap_searches = 8;

/// Memetic search (Benlic, Hao, Expert Systems with Applications 42, 2015: BMA). Results of robust tabu
/// searches are added to a pool of good, diverse assignments. New searches start from children of the pool by
/// uniform crossover. The searches have different limits of iterations without improvement, which are low for
/// matrices dominated by few entries. A new pool replaces a pool that no longer improves, and sometimes
/// starts with the best members of earlier pools. Stops when the meter or the iterations are exhausted or the
/// target is reached, and returns the best assignment. `start` may be empty, or an assignment: the first
/// search starts with it, the others near it, and the result is never worse. Work is the number of evaluated
/// exchanges, order^2 / 2 per iteration. The result does not depend on the number of threads. Memory: about
/// 40 * order^2 bytes for each of 8 searches. Throws Error if `start` is not a permutation.
[[nodiscard]] QapResult solve_qap(const Qap& qap, std::span<const std::uint32_t> start, Meter& meter,
                                  const QapSolveOptions& options);

}  // namespace topoloom::qap
