// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/state/space_arrangement.hpp"

#include "topoloom/place/state/fast_space.hpp"

namespace topoloom {

void with_arrangement(const Allocation& allocation, const CommGraph& symmetric,
                      std::vector<Position> position_of_rank, const std::function<void(Arrangement&)>& use) {
    with_fast_space(allocation, [&]<class Space>(const Space& space, const auto& slots) {
        SpaceArrangement<Space, CommGraph> arrangement(space, slots, symmetric, std::move(position_of_rank));
        use(arrangement);
    });
}

}  // namespace topoloom
