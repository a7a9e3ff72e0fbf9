// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/state/near_lists.hpp"

#include "topoloom/base/parallel.hpp"
#include "topoloom/place/state/near_slots.hpp"

namespace topoloom {

void with_near_lists(const Problem& problem, std::uint32_t count, Meter& meter,
                     const std::function<void(NearLists&)>& use) {
    constexpr std::size_t many = 16;  // with more slots per rank, lists are built on demand
    const Allocation& allocation = problem.allocation();
    const std::size_t slots = allocation.slot_count();
    const NearSlotSearch search(allocation, count);
    std::vector<NearLists::List> lists(slots);
    const auto make = [&](Position position) {
        NearLists::List list(search.count());
        search.list(position, list.data());
        return list;
    };
    const Chunks chunks(slots <= many * problem.rank_count() ? slots : 0, 512);
    for (std::size_t c = 0; c < chunks.size() && meter.poll_clock(); ++c) {
        const Chunk chunk = chunks[c];
        parallel_for(chunk.end - chunk.begin, problem.threads(),
                     [&](std::size_t i, int) { lists[chunk.begin + i] = make(Position{chunk.begin + i}); });
    }
    NearLists list(search.count(), std::move(lists), make);
    use(list);
}

}  // namespace topoloom
