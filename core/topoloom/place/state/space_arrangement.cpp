// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/state/space_arrangement.hpp"

#include "topoloom/place/state/fast_space.hpp"

namespace topoloom {

void with_arrangement(const Problem& problem, std::span<const Slot> slot_of_rank,
                      const std::function<void(Arrangement&)>& use) {
    with_fast_space(problem.allocation(), [&]<class Space>(const Space& space, const auto& slots) {
        SpaceArrangement<Space, CommGraph> arrangement(space, slots, problem.symmetric(),
                                                       rank_positions(problem.allocation(), slot_of_rank));
        for (const Rank u : problem.fixed().ranks()) arrangement.fix(u);
        use(arrangement);
    });
}

}  // namespace topoloom
