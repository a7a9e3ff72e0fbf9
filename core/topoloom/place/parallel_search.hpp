// SPDX-License-Identifier: BSD-3-Clause
// Parallel searches that share one budget.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "topoloom/base/budget.hpp"
#include "topoloom/base/parallel.hpp"

namespace topoloom {

/// Up to this number of ranks whole searches run in parallel; beyond, one search uses all cores and a smaller
/// neighborhood.
inline constexpr std::size_t max_ranks_in_parallel = 20'000;

/// Calls search(i, meter) for every i below count. Each has an equal share of the work that is left, so results do not
/// depend on threads; of the time, what is left by then for those not yet begun. All work counts.
template <class Search>
void search_in_parallel(std::size_t count, int threads, Meter& meter, const Search& search) {
    const Budget whole = meter.remaining();
    const std::size_t at_once = std::min<std::size_t>(count, static_cast<std::size_t>(thread_count(threads)));
    std::vector<std::uint64_t> work(count, 0);
    std::atomic<std::size_t> begun = 0;
    // Known to all workers from the beginning: asking later would make results depend on who asks first.
    std::atomic<bool> stopped = meter.is_exhausted();
    parallel_for(count, threads, [&](std::size_t i, int worker) {
        const std::size_t waiting = count - begun++;
        const std::size_t rounds = (waiting + at_once - 1) / at_once;
        // The caller can be asked by this thread only, which is worker 0.
        const Budget share{.work = whole.work / count,
                           .seconds = meter.remaining().seconds / static_cast<double>(rounds),
                           .keep_going = [&, worker](std::uint64_t) {
                               if (worker == 0 && !meter.poll()) stopped = true;
                               return !stopped;
                           }};
        Meter own(share);
        search(i, own);
        work[i] = own.work_done();
    });
    for (const std::uint64_t done : work) meter.spend(done);
}

}  // namespace topoloom
