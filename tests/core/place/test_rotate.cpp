// SPDX-License-Identifier: BSD-3-Clause
// Cyclic exchanges improve placements that exchanges of pairs cannot improve, and leave no move that is an
// improvement.
#include <doctest.h>

#include <algorithm>
#include <string>

#include "topoloom/machine/allocations/fragments.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/metric/hop_bytes.hpp"
#include "topoloom/pattern/generators/random_geometric.hpp"
#include "topoloom/place/mapper.hpp"

using namespace topoloom;

namespace {

std::int64_t rotated_hop_bytes(const Problem& problem, std::string_view chain) {
    return hop_bytes(problem.graph(), problem.machine(), place(problem, chain).placement.slots());
}

}  // namespace

TEST_CASE(
    "rotate improves many placements that swap cannot, and longer cycles improve more of them than pairs") {
    const Machine machine = make_machine("torus:5x5x4");
    const Allocation allocation = Allocation::whole(machine);
    int better = 0;
    std::int64_t pairs = 0;
    std::int64_t cycles = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const CommGraph graph = random_geometric(100, Bytes{10}, seed, 6);
        const Problem problem(graph, allocation, seed);
        const std::int64_t swapped = rotated_hop_bytes(problem, "random+swap");
        const std::int64_t rotated = rotated_hop_bytes(problem, "random+swap+rotate");
        CHECK(rotated <= swapped);
        if (rotated < swapped) ++better;
        cycles += rotated;
        pairs += rotated_hop_bytes(problem, "random+swap+rotate(length=2)");
    }
    CHECK(better > 10);
    CHECK(cycles < pairs);
}

TEST_CASE("after rotate no rank gains by moving to a free slot near a partner") {
    const Machine machine = make_machine("torus:8x8x8");
    const Allocation allocation = fragmented_allocation(machine, 120, 3, 4);
    const CommGraph graph = random_geometric(100, Bytes{10}, 2, 6);
    const CommGraph partners = graph.symmetric();
    const PlaceResult result = place(Problem(graph, allocation), "random+rotate(near=4)");
    std::vector<Slot> slots(result.placement.slots().begin(), result.placement.slots().end());
    const std::int64_t reached = hop_bytes(graph, machine, slots);
    for (const Rank u : ids<Rank>(100)) {
        for (const Rank partner : partners.peers(u)) {
            for (const Slot free : allocation.slots()) {
                if (std::ranges::find(slots, free) != slots.end()) continue;
                if (machine.distance(free, slots[partner.value]) > 1) continue;
                const std::size_t nearer =
                    static_cast<std::size_t>(std::ranges::count_if(allocation.slots(), [&](Slot slot) {
                        return machine.distance(slot, slots[partner.value]) <= 1;
                    }));
                if (nearer > 5) continue;  // the partner's slot and the 4 slots that were tried
                const Slot home = std::exchange(slots[u.value], free);
                CHECK(hop_bytes(graph, machine, slots) >= reached);
                slots[u.value] = home;
            }
        }
    }
}
