// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/near_lists.hpp"

#include "topoloom/place/near_slots.hpp"
#include "topoloom/place/quick_space.hpp"

namespace topoloom {

NearLists list_near(const Allocation& allocation, std::uint32_t count, int threads) {
    return with_quick_space(
        allocation, [&]<class Space>(const Space& space, const auto&, const auto&, const auto&) {
            const NearSlots<Space> near(space, allocation, count, threads);
            NearLists lists{near.count(), {}};
            lists.all.reserve(allocation.slot_count() * near.count());
            for (std::uint32_t position = 0; position < allocation.slot_count(); ++position)
                lists.all.insert(lists.all.end(), near.near(position).begin(), near.near(position).end());
            return lists;
        });
}

}  // namespace topoloom
