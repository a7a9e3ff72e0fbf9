// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/state/near_lists.hpp"

#include "topoloom/base/parallel.hpp"
#include "topoloom/place/state/fast_space.hpp"
#include "topoloom/place/state/near_slots.hpp"

namespace topoloom {

void with_near_lists(const Problem& problem, std::uint32_t count,
                     const std::function<void(NearLists&)>& use) {
    constexpr std::size_t many = 16;  // slots for each rank
    const Allocation& allocation = problem.allocation();
    const std::size_t slots = allocation.slot_count();
    with_quick_space(allocation, [&]<class Space>(const Space& space, const auto&, const auto&, const auto&) {
        const NearSlots<Space> near(space, allocation, count);
        std::vector<NearLists::List> lists(slots);
        const auto make = [&](std::size_t position) {
            return near.list_to(static_cast<std::uint32_t>(position));
        };
        if (slots <= many * problem.rank_count())
            parallel_for(slots, problem.threads(), [&](std::size_t i, int) { lists[i] = make(i); });
        NearLists made(near.count(), std::move(lists), make);
        use(made);
    });
}

}  // namespace topoloom
