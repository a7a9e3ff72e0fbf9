// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/state/near_slots.hpp"

#include "topoloom/base/parallel.hpp"
#include "topoloom/place/state/near_slot_search.hpp"

namespace topoloom {

NearSlots::NearSlots(const Allocation& allocation, std::uint32_t count, int threads) {
    with_space(allocation.machine(), [&]<class Space>(const Space& space) {
        const NearSlotSearch<Space> search(space, allocation, count);
        count_ = search.count();
        near_.resize(allocation.slot_count() * count_);
        const Chunks chunks(allocation.slot_count(), 256);
        parallel_for(chunks.size(), threads, [&](std::size_t c, int) {
            for (std::size_t i = chunks[c].begin; i < chunks[c].end; ++i)
                search.list(Position{i}, near_.data() + i * count_);
        });
    });
}

}  // namespace topoloom
