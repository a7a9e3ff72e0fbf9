// SPDX-License-Identifier: BSD-3-Clause
// Differences of distances between parts, against two distances each.
#include <doctest.h>

#include <algorithm>
#include <vector>

#include "../machine/machines.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/place/multilevel/machine_part.hpp"

using namespace topoloom;

TEST_CASE("how much farther parts are from one of two is the difference of their distances") {
    for (const std::string& text : machine_texts_with_insides()) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        const std::vector<std::int64_t> capacity(allocation.slot_count(), 1);
        with_space(machine, [&]<class Space>(const Space& space) {
            for (const multilevel::FullRings full :
                 {multilevel::FullRings::lines, multilevel::FullRings::rings}) {
                const multilevel::MachineParts<Space> parts(space, allocation, capacity, full);
                const auto slots = static_cast<std::uint32_t>(allocation.slot_count());
                Rng rng(5);
                const auto some = [&] {
                    const std::uint32_t begin = rng.below(slots);
                    return parts.sample({begin, begin + 1 + rng.below(slots - begin)});
                };
                for (int round = 0; round < 10; ++round) {
                    const auto near = some();
                    const auto far = some();
                    auto farther = parts.difference(near, far);
                    for (int i = 0; i < 10; ++i) {
                        const auto there = some();
                        CHECK(farther(there) == parts.distance(far, there) - parts.distance(near, there));
                    }
                }
            }
        });
    }
}
