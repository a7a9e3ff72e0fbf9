// SPDX-License-Identifier: BSD-3-Clause
// Memetic search for dense QAPs: parallel tabu searches with a common pool.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "topoloom/base/budget.hpp"
#include "topoloom/qap/qap.hpp"

namespace topoloom::qap {

struct QapSolveOptions {
    std::uint64_t seed = 1;
    int threads = 0;                                                       ///< 0: one per core
    std::int64_t target = std::numeric_limits<std::int64_t>::min();        ///< stop at this value
    std::uint64_t iterations = std::numeric_limits<std::uint64_t>::max();  ///< over all searches
};

struct QapResult {
    Permutation assignment;
    std::int64_t value;
};

/// Number of parallel searches, for any number of threads.
inline constexpr std::size_t qap_searches = 8;

/// Memetic search (Benlic, Hao, Expert Systems with Applications 42, 2015: BMA): what robust tabu searches find goes
/// into a pool of good and different assignments, whose children by uniform crossover the next searches begin with. The
/// searches differ in how long they go on without success: on matrices that few entries dominate they are short. A pool
/// that no longer improves makes room for a new one, which begins with the best of some former ones now and then.
/// Searches until the meter or the iterations are exhausted or the target is reached; then returns the best met.
/// `start` may be empty, or an assignment that the first search begins with, the others near it; the result is never
/// worse. Work counts evaluated exchanges: order^2 / 2 per iteration. Same result for any number of threads. Memory
/// about 40 * order^2 bytes for each of 8 searches. Throws Error if `start` is not a permutation.
[[nodiscard]] QapResult solve_qap(const Qap& qap, std::span<const std::uint32_t> start, Meter& meter,
                                  const QapSolveOptions& options);

}  // namespace topoloom::qap
