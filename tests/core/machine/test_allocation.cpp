// SPDX-License-Identifier: BSD-3-Clause
// Allocations and placements are valid from construction, or are refused.
#include <vector>

#include "machine/machine_texts.hpp"
#include "topoloom/machine/allocations/allocation.hpp"

using namespace topoloom;

namespace {

std::vector<Slot> make_slots(std::initializer_list<int> values) {
    std::vector<Slot> list;
    for (const int value : values) list.emplace_back(value);
    return list;
}

bool are_equal(std::span<const Slot> a, const std::vector<Slot>& b) {
    return std::vector<Slot>(a.begin(), a.end()) == b;
}

}  // namespace

TEST_CASE("an allocation lists the slots of its nodes in the given order") {
    const Machine machine = make_machine("torus:2x2+node:2");
    const Allocation allocation(machine, {Node{3}, Node{0}});
    CHECK(allocation.slot_count() == 4);
    CHECK(are_equal(allocation.slots(), make_slots({6, 7, 0, 1})));
}

TEST_CASE("an allocation may consist of any slots, in any order") {
    const Machine machine = make_machine("torus:2x2+node:4");
    const Allocation allocation = Allocation::of_slots(machine, make_slots({9, 4, 8, 7}));
    CHECK(are_equal(allocation.slots(), make_slots({9, 4, 8, 7})));
    CHECK(std::vector(allocation.nodes().begin(), allocation.nodes().end()) == std::vector{Node{2}, Node{1}});
    const std::span<const std::uint32_t> node_of_slot = allocation.node_of_slot();
    CHECK(std::vector(node_of_slot.begin(), node_of_slot.end()) == std::vector<std::uint32_t>{0, 1, 0, 1});
}

TEST_CASE("every slot of an allocation has the index of its node") {
    const Machine machine = make_machine("torus:3x3+node:2");
    const Allocation allocation(machine, {Node{5}, Node{0}, Node{8}});
    REQUIRE(allocation.node_of_slot().size() == allocation.slot_count());
    for (std::size_t i = 0; i < allocation.slot_count(); ++i) {
        CHECK(allocation.nodes()[allocation.node_of_slot()[i]] == machine.node(allocation.slots()[i]));
    }
}

TEST_CASE("an allocation of a whole machine lists its slots in order") {
    const Machine machine = make_machine("torus:3x3+node:2");
    const Allocation allocation = Allocation::whole(machine);
    REQUIRE(allocation.slot_count() == 18);
    for (std::size_t i = 0; i < 18; ++i) CHECK(allocation.slots()[i] == Slot{i});
}

TEST_CASE("allocations with 0 nodes, unknown nodes or duplicate nodes are refused") {
    const Machine machine = make_machine("torus:2x2+node:2");
    CHECK_THROWS_WITH_AS(Allocation(machine, {}), "the allocation is empty; name at least one node", Error);
    CHECK_THROWS_WITH_AS(Allocation(machine, {Node{0}, Node{4}}),
                         "the allocation names node 4, but the machine has only 4 nodes", Error);
    CHECK_THROWS_WITH_AS(Allocation(machine, {Node{1}, Node{0}, Node{1}}),
                         "the allocation names node 1 twice", Error);
}

TEST_CASE("allocations with 0 slots, unknown slots or duplicate slots are refused") {
    const Machine machine = make_machine("torus:2x2+node:2");
    CHECK_THROWS_WITH_AS((void)Allocation::of_slots(machine, {}),
                         "the allocation is empty; name at least one slot", Error);
    CHECK_THROWS_WITH_AS((void)Allocation::of_slots(machine, make_slots({0, 8})),
                         "the allocation names slot 8, but the machine has only 8 slots", Error);
    CHECK_THROWS_WITH_AS((void)Allocation::of_slots(machine, make_slots({3, 0, 3})),
                         "the allocation names slot 3 twice", Error);
}

TEST_CASE("a placement stores the slot of every rank") {
    const Machine machine = make_machine("torus:2x2");
    const Placement placement(Allocation(machine, {Node{3}, Node{1}, Node{2}}), make_slots({2, 3}));
    CHECK(placement.rank_count() == 2);
    CHECK(placement[Rank{0}] == Slot{2});
    CHECK(placement[Rank{1}] == Slot{3});
}

TEST_CASE("placements that do not match their allocation are refused") {
    const Machine machine = make_machine("torus:2x2+node:2");
    const Allocation allocation = Allocation::of_slots(machine, make_slots({0, 6}));
    CHECK_THROWS_WITH_AS(Placement(allocation, {}), "there are no ranks to place", Error);
    CHECK_THROWS_WITH_AS(
        Placement(allocation, make_slots({0, 6, 1})),
        "3 ranks do not fit on the 2 slots of 2 nodes; allocate more nodes or start fewer ranks", Error);
    CHECK_THROWS_WITH_AS(Placement(allocation, make_slots({0, 1})),
                         "rank 1 is placed on slot 1, which is not part of the allocation", Error);
    CHECK_THROWS_WITH_AS(Placement(allocation, make_slots({2, 0})),
                         "rank 0 is placed on slot 2, which is not part of the allocation", Error);
    CHECK_THROWS_WITH_AS(Placement(allocation, make_slots({8, 0})),
                         "rank 0 is placed on slot 8, which is not part of the allocation", Error);
    CHECK_THROWS_WITH_AS(Placement(allocation, make_slots({6, 6})),
                         "rank 1 is placed on slot 6, which is taken", Error);
}
