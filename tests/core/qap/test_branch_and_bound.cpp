// SPDX-License-Identifier: BSD-3-Clause
// Branch and bound compared with enumeration and known optima.

#include "bound/bound_cases.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/bound/bound_problem.hpp"
#include "topoloom/qap/exact/branch_and_bound.hpp"
#include "topoloom/qap/exact/slot_symmetry.hpp"

using namespace topoloom;

namespace {

/// Hop-bytes as a quadratic assignment problem, in which a slot of capacity k becomes k locations.
qap::QuadraticAssignment quadratic_assignment(const BoundProblem& problem) {
    const auto ranks = static_cast<std::uint32_t>(problem.rank_count());
    std::vector<std::int64_t> bytes(std::size_t{ranks} * ranks, 0);
    for (const Rank u : ids<Rank>(ranks)) {
        for (const Edge edge : problem.graph().sends(u))
            bytes[std::size_t{u.value} * ranks + edge.peer.value] = edge.bytes.value;
    }
    std::vector<Slot> slot_of_place;
    for (std::size_t s = 0; s < problem.capacity().size(); ++s)
        slot_of_place.insert(slot_of_place.end(), problem.capacity()[s], problem.allocation().slots()[s]);
    std::vector<std::int64_t> distances;
    for (const Slot a : slot_of_place) {
        for (const Slot b : slot_of_place) distances.push_back(problem.machine().distance(a, b));
    }
    return {ranks, static_cast<std::uint32_t>(problem.total_capacity()), std::move(bytes),
            std::move(distances)};
}

qap::ExactResult solve(const qap::QuadraticAssignment& problem, int threads = 1) {
    const Budget budget;
    Meter meter(budget);
    return qap::branch_and_bound(problem, id_list<Position>(problem.ranks), meter, threads);
}

/// The problem of Nugent, Vollmann and Ruml: facilities on a 3 x 4 grid.
qap::QuadraticAssignment nugent_12() {
    const std::vector<std::vector<std::int64_t>> upper{{5, 2, 4, 1, 0, 0, 6, 2, 1, 1, 1},
                                                       {3, 0, 2, 2, 2, 0, 4, 5, 0, 0},
                                                       {0, 0, 0, 0, 5, 5, 2, 2, 2},
                                                       {5, 2, 2, 10, 0, 0, 5, 5},
                                                       {10, 0, 0, 0, 5, 1, 1},
                                                       {5, 1, 1, 5, 4, 0},
                                                       {10, 5, 2, 3, 3},
                                                       {0, 0, 5, 0},
                                                       {0, 10, 10},
                                                       {5, 0},
                                                       {2}};
    std::vector<std::int64_t> flow(144, 0);
    std::vector<std::int64_t> distance;
    for (std::size_t i = 0; i < upper.size(); ++i) {
        for (std::size_t k = 0; k < upper[i].size(); ++k)
            flow[i * 12 + i + 1 + k] = flow[(i + 1 + k) * 12 + i] = upper[i][k];
    }
    for (int a = 0; a < 12; ++a) {
        for (int b = 0; b < 12; ++b) distance.push_back(std::abs(a / 4 - b / 4) + std::abs(a % 4 - b % 4));
    }
    return {12, 12, flow, distance};
}

}  // namespace

TEST_CASE("branch and bound finds the best of all placements, on any machine") {
    for_each_bound_case(6, [](const CommGraph& graph, const Allocation& allocation, Rng&) {
        const qap::QuadraticAssignment problem = quadratic_assignment(BoundProblem(graph, allocation));
        const qap::ExactResult found = solve(problem);
        CHECK(found.value == min_hop_bytes_of_all(graph, allocation));
        CHECK(found.lower_bound == found.value);
        std::vector<Slot> slots;
        for (const Position at : found.position_of_rank) slots.push_back(allocation.slots()[at.value]);
        const Placement placement(allocation, slots);
        CHECK(hop_bytes(graph, allocation.machine(), placement.slots()) == found.value);
    });
}

TEST_CASE(
    "the value found depends neither on the number of threads nor on the numbering of ranks and slots") {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        Rng rng(seed);
        const Machine machine = make_machine(seed % 2 == 0 ? "torus:3x3" : "tree:3:3");
        const Allocation whole = Allocation::whole(machine);
        const CommGraph graph = random_pattern(9, 20, rng);
        const qap::ExactResult one = solve(quadratic_assignment(BoundProblem(graph, whole)), 1);
        std::vector<Slot> slots(whole.slots().begin(), whole.slots().end());
        rng.shuffle(std::span(slots));
        const auto shuffled = Allocation::of_slots(machine, slots);
        CHECK(solve(quadratic_assignment(BoundProblem(graph, shuffled)), 3).value == one.value);
    }
}

TEST_CASE("the result does not depend on the number of threads, for any budget" *
          doctest::test_suite("threads")) {
    qap::QuadraticAssignment problem = nugent_12();
    for (std::size_t k = 0; k < 144; ++k) problem.linear.push_back(static_cast<std::int64_t>(k * 7 % 31));
    for (const std::uint64_t work : {1U, 10'000U, 100'000U, 1'000'000U, 1'000'000'000U}) {
        const Budget budget{.work = work};
        std::vector<qap::ExactResult> found;
        std::vector<std::uint64_t> done;
        for (const int threads : {1, 2, 5}) {
            Meter meter(budget);
            found.push_back(qap::branch_and_bound(problem, id_list<Position>(12), meter, threads));
            done.push_back(meter.work_done());
            CHECK(found.back().position_of_rank == found.front().position_of_rank);
            CHECK(found.back().value == problem.value(found.back().position_of_rank));
            CHECK(found.back().lower_bound == found.front().lower_bound);
            CHECK(found.back().nodes == found.front().nodes);
            CHECK(done.back() == done.front());
        }
    }
}

TEST_CASE("the optimum of nug12, 578, is found and proven") {
    const qap::ExactResult found = solve(nugent_12(), 2);
    CHECK(found.value == 578);
    CHECK(found.lower_bound == 578);
    CHECK(nugent_12().value(found.position_of_rank) == 578);
}

TEST_CASE("an interrupted search reports a valid bound, which grows with the budget") {
    const qap::QuadraticAssignment problem = nugent_12();
    std::int64_t before = 0;
    for (const std::uint64_t work : {1, 1'000, 10'000, 100'000}) {
        const Budget budget{.work = work};
        Meter meter(budget);
        const qap::ExactResult found = qap::branch_and_bound(problem, id_list<Position>(12), meter, 1);
        CHECK(found.value == problem.value(found.position_of_rank));
        CHECK(found.lower_bound <= 578);
        CHECK(found.lower_bound >= before);
        CHECK(found.value >= 578);
        before = found.lower_bound;
    }
    CHECK(before >= 493);
}

TEST_CASE("shared slots get at most as many ranks as their capacity") {
    const Machine machine = make_machine("mesh:3");
    const Allocation allocation = Allocation::whole(machine);
    Rng rng(3);
    const CommGraph graph = random_pattern(6, 20, rng);
    const qap::ExactResult found = solve(quadratic_assignment(BoundProblem(graph, allocation, {2, 2, 2})));
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::vector<Slot> slots{Slot{0}, Slot{0}, Slot{1}, Slot{1}, Slot{2}, Slot{2}};
    do {
        least = std::min(least, hop_bytes(graph, machine, slots, 1));
    } while (std::ranges::next_permutation(slots).found);
    CHECK(found.value == least);
}

TEST_CASE("slots that distances cannot distinguish form one orbit") {
    const auto orbits = [](const std::string& text, const std::vector<std::uint32_t>& fixed) {
        const Machine machine = make_machine(text);
        std::vector<std::int64_t> distances;
        for (const Slot a : ids<Slot>(machine.slot_count())) {
            for (const Slot b : ids<Slot>(machine.slot_count())) distances.push_back(machine.distance(a, b));
        }
        std::vector<std::uint32_t> found;
        const std::vector<Position> kept(fixed.begin(), fixed.end());
        for (const Position least : qap::SlotSymmetry(machine.slot_count(), distances).orbits(kept))
            found.push_back(least.value);
        return found;
    };
    using Orbits = std::vector<std::uint32_t>;
    CHECK(orbits("torus:6", {}) == Orbits(6, 0));
    CHECK(orbits("torus:6", {0}) == Orbits{0, 1, 2, 3, 2, 1});
    CHECK(orbits("torus:6", {0, 1}) == Orbits{0, 1, 2, 3, 4, 5});
    CHECK(orbits("mesh:2x3", {}) == Orbits{0, 1, 0, 0, 1, 0});
    CHECK(orbits("tree:2:2", {0}) == Orbits{0, 1, 2, 2});
    CHECK(orbits("torus:4x4x4", {}) == Orbits(64, 0));
}

TEST_CASE("an invalid start of an exact search is refused") {
    const qap::QuadraticAssignment problem = nugent_12();
    const Budget budget;
    Meter meter(budget);
    CHECK_THROWS_AS((void)qap::branch_and_bound(problem, id_list<Position>(11), meter), Error);
    CHECK_THROWS_AS((void)qap::branch_and_bound(problem, std::vector<Position>(12, Position{3}), meter),
                    Error);
    CHECK_THROWS_AS(
        qap::QuadraticAssignment(3, 2, std::vector<std::int64_t>(9), std::vector<std::int64_t>(4)), Error);
    CHECK_THROWS_AS(qap::QuadraticAssignment(1, 2, {0}, std::vector<std::int64_t>(4), {1}), Error);
    CHECK_THROWS_AS(qap::QuadraticAssignment(2, 2, {0, -1, 0, 0}, std::vector<std::int64_t>(4)), Error);
}
