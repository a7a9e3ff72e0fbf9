// SPDX-License-Identifier: BSD-3-Clause
// Runs searches in parallel on one shared budget.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "topoloom/base/budget.hpp"
#include "topoloom/base/parallel.hpp"

namespace topoloom {

/// Up to this number of ranks, whole searches run in parallel; beyond it, one search uses all cores and a
/// smaller neighborhood.
inline constexpr std::size_t max_ranks_in_parallel = 20'000;

/// Calls search(i, meter) for every i below count. Each search gets an equal share of the remaining work, so
/// results do not depend on threads. Remaining time is shared among the searches that have not started. The
/// work of all searches is charged to `meter`.
template <class Search>
void search_in_parallel(std::size_t count, int threads, Meter& meter, const Search& search) {
    const Budget whole = meter.remaining();
    const std::size_t at_once = std::min<std::size_t>(count, static_cast<std::size_t>(thread_count(threads)));
    std::vector<std::uint64_t> work(count, 0);
    std::atomic<std::size_t> begun = 0;
    // Read from the meter before the workers start: if they read it themselves, results would depend on their
    // order.
    std::atomic<bool> stopped = meter.is_exhausted();
    parallel_for(count, threads, [&](std::size_t i, int worker) {
        const std::size_t waiting = count - begun++;
        const std::size_t rounds = (waiting + at_once - 1) / at_once;
        // Only the calling thread, which is worker 0, may poll the caller's meter.
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
