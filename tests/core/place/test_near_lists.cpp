// SPDX-License-Identifier: BSD-3-Clause
// Lists of near slots.
#include "topoloom/place/near/near_lists.hpp"

#include <doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../machine/machine_texts.hpp"
#include "topoloom/base/parallel.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/machine/allocations/fragments.hpp"

using namespace topoloom;

namespace {

const std::vector<std::string>& near_list_machines() {
    static const std::vector<std::string> all{"torus:4x4x4",
                                              "mesh:9x7",
                                              "torus:5x3x2x3",
                                              "mesh:40",
                                              "torus:300x2",
                                              "torus:6x5,nodes=3",
                                              "torus:2x2x2x2x2x2x2x2x2",
                                              "tree:4:4:4,distance=1:10:100",
                                              "tree:3:4+node:2:8,distance=1:3",
                                              "fattree:2:3:3,up=1:2:4",
                                              "dragonfly:5x4,nodes=2,hosts=free+node:3",
                                              "torus:3x5+node:3:2,distance=1:2:5",
                                              "torus:3x4+node:3:2,distance=1:2:5,port=0:6",
                                              "mesh:3x4+node:8,distance=9:1,port=0:6",
                                              "torus:9+node:30",
                                              random_graph(30, 5, 1)};
    return all;
}

/// Half of the slots, of all nodes or of a few nodes, in random order.
Allocation random_half(const Machine& machine, std::uint64_t seed) {
    const Allocation whole = Allocation::whole(machine);
    std::vector<Slot> slots(whole.slots().begin(), whole.slots().end());
    Rng(seed).shuffle(std::span<Slot>(slots));
    slots.resize(slots.size() / 2);
    return Allocation::of_slots(machine, std::move(slots));
}

std::vector<std::uint32_t> distances_of_list(const Allocation& allocation, Position from,
                                             std::span<const Position> list) {
    std::vector<std::uint32_t> distances;
    for (const Position p : list)
        distances.push_back(
            allocation.machine().distance(allocation.slots()[from.value], allocation.slots()[p.value]));
    return distances;
}

/// The `count` smallest distances from a slot to other slots.
std::vector<std::uint32_t> smallest_distances(const Allocation& allocation, Position from,
                                              std::uint32_t count) {
    std::vector<Position> others;
    for (const Position p : ids<Position>(allocation.slot_count())) {
        if (p != from) others.push_back(p);
    }
    std::vector<std::uint32_t> distances = distances_of_list(allocation, from, others);
    std::ranges::sort(distances);
    distances.resize(std::min<std::size_t>(count, distances.size()));
    return distances;
}

void check_lists(const Allocation& allocation, std::uint32_t count) {
    CAPTURE(allocation.machine().text());
    CAPTURE(count);
    const NearLists near(allocation, count);
    bool exact = true;
    bool distinct = true;
    for (const Position p : ids<Position>(allocation.slot_count())) {
        const auto list = near.list_at(p);
        exact &= distances_of_list(allocation, p, list) == smallest_distances(allocation, p, count);
        std::vector<Position> sorted(list.begin(), list.end());
        sorted.push_back(p);
        std::ranges::sort(sorted);
        distinct &= std::ranges::adjacent_find(sorted) == sorted.end();
    }
    CHECK(exact);
    CHECK(distinct);
}

}  // namespace

TEST_CASE("near lists have the distances that sorting all slots finds") {
    for (const std::string& text : near_list_machines()) {
        const Machine machine = make_machine(text);
        for (const std::uint32_t count : {1U, 7U, 24U, 5000U}) {
            check_lists(Allocation::whole(machine), count);
            check_lists(random_half(machine, count), count);
        }
    }
}

TEST_CASE("near lists of slots far from most others are exact") {
    // 30 nodes of 216,000 are scanned. More than 2048 sites are searched by bounding boxes: 2,100 nodes, of
    // which one is far from all others.
    check_lists(fragmented_allocation(make_machine("torus:60x60x60"), 30, 7, 1), 24);
    const Machine machine = make_machine("mesh:21x10000+node:2:2,distance=1:2:5");
    std::vector<Slot> slots{machine.slot(Node{machine.node_count() - 1}, 1)};
    for (const Node node : ids<Node>(machine.node_count())) {
        if (node.value % 10000 < 100) slots.push_back(machine.slot(node, node.value % 4));
    }
    const Allocation allocation = Allocation::of_slots(machine, std::move(slots));
    const NearLists near(allocation, 24);
    for (const Position p : {Position{0}, Position{1}, Position{1000}}) {
        CHECK(distances_of_list(allocation, p, near.list_at(p)) == smallest_distances(allocation, p, 24));
    }
}

TEST_CASE("near lists depend neither on the order of accesses nor on threads" *
          doctest::test_suite("threads")) {
    for (const std::string& text : near_list_machines()) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = random_half(machine, 3);
        const NearLists in_order(allocation, 9);
        const NearLists in_parallel(allocation, 9);
        parallel_for(allocation.slot_count(), 4, [&](std::size_t i, int) {
            static_cast<void>(in_parallel.list_at(Position{allocation.slot_count() - 1 - i}));
        });
        bool equal = true;
        for (const Position p : ids<Position>(allocation.slot_count()))
            equal &= std::ranges::equal(in_order.list_at(p), in_parallel.list_at(p));
        CHECK(equal);
        CHECK(in_order.take_work() == in_parallel.take_work());
        CHECK(in_order.take_work() == 0);
    }
}
