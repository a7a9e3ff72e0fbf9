// SPDX-License-Identifier: BSD-3-Clause
// Differences of distances to two parts.
#include <doctest.h>

#include <algorithm>
#include <vector>

#include "../machine/machine_texts.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/place/multilevel/machine_part.hpp"

using namespace topoloom;
using namespace topoloom::multilevel;

TEST_CASE("the preference between two parts is the difference of their distances") {
    for (const std::string& text : machine_texts_with_node_levels()) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        const std::vector<std::int64_t> capacity(allocation.slot_count(), 1);
        for (const FullRingMeasurement full : {FullRingMeasurement::lines, FullRingMeasurement::rings}) {
            const auto parts = make_machine_parts(allocation, capacity, full);
            parts->set_part_count(12);
            const auto slots = static_cast<std::uint32_t>(allocation.slot_count());
            Rng rng(5);
            for (int round = 0; round < 10; ++round) {
                for (const Part p : ids<Part>(12)) {
                    const std::uint32_t begin = rng.below(slots);
                    parts->sample(p, {begin, begin + 1 + rng.below(slots - begin)});
                }
                const Part near{0};
                const Part far{1};
                const DistanceDifference farther = parts->make_distance_difference(near, far);
                for (const Part there : ids<Part>(12))
                    CHECK(farther(there) == parts->distance(far, there) - parts->distance(near, there));
            }
        }
    }
}
