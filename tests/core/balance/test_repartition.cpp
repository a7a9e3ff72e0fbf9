// SPDX-License-Identifier: BSD-3-Clause
// Repartitions tasks that exchange messages: with few tasks the cost of cut and moved bytes equals that of
// exhaustive search.
#include <doctest.h>

#include <algorithm>
#include <string>

#include "every_assignment.hpp"
#include "topoloom/balance/tasks/measures.hpp"
#include "topoloom/balance/tasks/place_tasks.hpp"
#include "topoloom/balance/tasks/tasks.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/machine/text/machine_text.hpp"

using namespace topoloom;

namespace {

struct MeshCase {
    std::vector<double> loads;
    std::vector<std::int64_t> bytes;
    std::vector<Rank> owners;
    CommGraph graph;

    [[nodiscard]] Tasks tasks(std::size_t ranks) const {
        return {.loads = loads, .owners = owners, .ranks = ranks, .bytes = bytes, .graph = &graph};
    }
};

/// A square mesh of tasks, divided into strips of rows; the first strips have higher loads.
MeshCase make_mesh_case(std::uint32_t side, std::uint32_t ranks, Rng& rng) {
    MeshCase one;
    std::vector<Rank> from, to;
    std::vector<Bytes> bytes;
    for (std::uint32_t i = 0; i < side * side; ++i) {
        one.loads.push_back(1 + (i < side * side / 4 ? 3 : 0) + rng.below(100) / 200.0);
        one.bytes.push_back(50 + rng.below(100));
        one.owners.emplace_back(i / side * ranks / side);
        const auto edge = [&](std::uint32_t other) {
            from.emplace_back(i);
            to.emplace_back(other);
            bytes.emplace_back(100);
        };
        if ((i + 1) % side != 0) edge(i + 1);
        if (i + side < side * side) edge(i + side);
    }
    one.graph = CommGraph::from_edges(side * side, from, to, bytes);
    return one;
}

MeshCase make_random_mesh(std::uint32_t count, std::uint32_t ranks, Rng& rng) {
    MeshCase one;
    std::vector<Rank> from, to;
    std::vector<Bytes> bytes;
    for (std::uint32_t i = 0; i < count; ++i) {
        one.loads.push_back(1 + rng.below(30) / 10.0);
        one.bytes.push_back(1 + rng.below(100));
        one.owners.emplace_back(std::min(rng.below(ranks), rng.below(ranks)));
        for (std::uint32_t j = 0; j < i; ++j) {
            if (rng.below(3) != 0) continue;
            from.emplace_back(i);
            to.emplace_back(j);
            bytes.emplace_back(static_cast<std::int64_t>(1 + rng.below(100)));
        }
    }
    one.graph = CommGraph::from_edges(count, from, to, bytes);
    return one;
}

/// Least cost of any assignment within the limit; -1 if no assignment is within it.
double min_cost(const Tasks& tasks) {
    double best = -1;
    const double limit = load_limit(tasks);
    for_every_assignment(tasks.loads.size(), tasks.ranks, [&](const std::vector<Rank>& owners) {
        if (std::ranges::max(sum_rank_loads(tasks, owners)) > limit) return;
        const double now = task_cost(tasks, owners);
        if (best < 0 || now < best) best = now;
    });
    return best;
}

}  // namespace

TEST_CASE("for few tasks repartition finds the optimum, with and without a machine") {
    Rng rng(1);
    const Machine line = make_machine("mesh:3");
    const std::vector<Slot> slots{Slot{0}, Slot{1}, Slot{2}};
    int found = 0;
    for (int draw = 0; draw < 60; ++draw) {
        const MeshCase one = make_random_mesh(8, 3, rng);
        Tasks tasks = one.tasks(3);
        tasks.tolerance = draw % 4 == 0 ? 0.1 : 0.3;
        tasks.periods = 1 + draw % 3;
        if (draw % 2 == 0) {
            tasks.machine = &line;
            tasks.slots = slots;
        }
        const double best = min_cost(tasks);
        if (best < 0) continue;
        ++found;
        const std::vector<Rank> owners = repartition(tasks);
        CHECK(std::ranges::max(sum_rank_loads(tasks, owners)) <= load_limit(tasks));
        CHECK(task_cost(tasks, owners) == doctest::Approx(best).epsilon(1e-9));
    }
    CHECK(found > 40);
}

TEST_CASE(
    "the cost is cut bytes times periods plus moved bytes, each weighted by distance + 1/16 on a machine") {
    Rng rng(7);
    const Machine line = make_machine("mesh:3");
    const std::vector<Slot> slots{Slot{0}, Slot{1}, Slot{2}};
    const MeshCase one = make_random_mesh(8, 3, rng);
    Tasks tasks = one.tasks(3);
    tasks.periods = 5;
    const std::vector<Rank> owners(8, Rank{2});
    const TaskMeasures flat = measure_tasks(tasks, owners);
    CHECK(flat.cost == static_cast<double>(5 * flat.cut_bytes + flat.moved_bytes));
    tasks.machine = &line;
    tasks.slots = slots;
    const TaskMeasures far = measure_tasks(tasks, owners);
    CHECK(far.cost == 5 * (far.hop_bytes + static_cast<double>(far.cut_bytes) / 16) + far.moved_hop_bytes +
                          static_cast<double>(far.moved_bytes) / 16);
    CHECK(task_cost(tasks, tasks.owners) == measure_tasks(tasks, tasks.owners).cost);
}

TEST_CASE("repartition respects the tolerance, and costs less than balancing that ignores neighbors") {
    Rng rng(2);
    for (const std::uint32_t ranks : {2, 7, 16}) {
        const MeshCase one = make_mesh_case(32, ranks, rng);
        const Tasks tasks = one.tasks(ranks);
        const std::vector<Rank> owners = repartition(tasks);
        const TaskMeasures found = measure_tasks(tasks, owners);
        CHECK(found.load_max <= found.load_limit);
        CHECK(found.least_bytes <= found.moved_bytes);
        CHECK(task_cost(tasks, owners) < 0.8 * task_cost(tasks, balance_with_few_bytes(tasks)));
        CHECK(repartition(tasks) == owners);
    }
}

TEST_CASE("the more periods until the next balancing, the more tasks move to reduce the cut") {
    Rng rng(3);
    const MeshCase one = make_mesh_case(32, 16, rng);
    Tasks tasks = one.tasks(16);
    const TaskMeasures once = measure_tasks(tasks, repartition(tasks));
    tasks.periods = 100;
    const TaskMeasures for_long = measure_tasks(tasks, repartition(tasks));
    CHECK(for_long.cut_bytes < once.cut_bytes);
    CHECK(for_long.moved_bytes > once.moved_bytes);
}

TEST_CASE("repartition costs at most as much as a mapper on a machine") {
    Rng rng(6);
    const Machine machine = make_machine("torus:4x4");
    std::vector<Slot> slots;
    for (std::uint32_t i = 0; i < 16; ++i) slots.emplace_back((5 * i) % 16);
    const MeshCase one = make_mesh_case(32, 16, rng);
    for (const double periods : {1.0, 100.0}) {
        Tasks tasks = one.tasks(16);
        tasks.periods = periods;
        tasks.machine = &machine;
        tasks.slots = slots;
        const auto placed = place_tasks(tasks);
        REQUIRE(placed);
        std::vector<Rank> theirs;
        for (const Part part : *placed) theirs.emplace_back(part.value);
        const std::vector<Rank> ours = repartition(tasks);
        CHECK(task_cost(tasks, ours) < task_cost(tasks, theirs));
        CHECK(measure_tasks(tasks, ours).load_max <= load_limit(tasks));
        if (periods > 1)
            CHECK(measure_tasks(tasks, ours).hop_bytes < 0.5 * measure_tasks(tasks, tasks.owners).hop_bytes);
    }
}

TEST_CASE("nodes with equal total loads are balanced internally") {
    const Machine machine = make_machine("mesh:3+node:4");
    std::vector<Slot> slots;
    for (std::uint32_t i = 0; i < 12; ++i) slots.emplace_back(i);
    // On each node one rank has all tasks.
    MeshCase one{std::vector<double>(360, 1), std::vector<std::int64_t>(360, 10), {}, {}};
    for (std::uint32_t i = 0; i < 360; ++i) one.owners.emplace_back(i / 120 * 4);
    one.graph = CommGraph::from_edges(360, {}, {}, {});
    Tasks tasks = one.tasks(12);
    tasks.machine = &machine;
    tasks.slots = slots;
    const std::vector<Rank> owners = repartition(tasks);
    CHECK(std::ranges::max(sum_rank_loads(tasks, owners)) <= load_limit(tasks));
    CHECK(measure_tasks(tasks, owners).moved_hop_bytes == 0);
}

TEST_CASE("memory limits are respected with neighbors") {
    Rng rng(4);
    const MeshCase one = make_mesh_case(24, 6, rng);
    Tasks tasks = one.tasks(6);
    std::int64_t all = 0;
    for (const std::int64_t bytes : one.bytes) all += bytes;
    tasks.memory = all / 6 * 120 / 100;
    const std::vector<Rank> owners = repartition(tasks);
    std::vector<std::int64_t> bytes_of_rank(6, 0);
    for (std::size_t i = 0; i < owners.size(); ++i) bytes_of_rank[owners[i].value] += one.bytes[i];
    CHECK(std::ranges::max(bytes_of_rank) <= tasks.memory);
}

TEST_CASE("the poll callback can end a search at any call") {
    Rng rng(6);
    const MeshCase one = make_mesh_case(40, 8, rng);
    const Machine machine = make_machine("torus:8");
    const Allocation allocation = Allocation::whole(machine);
    struct StopSearch {};
    Tasks tasks = one.tasks(8);
    const auto polls = [&](int last) {
        int count = 0;
        tasks.poll = [&count, last] {
            if (++count == last) throw StopSearch();
        };
        CHECK_THROWS_AS(static_cast<void>(repartition(tasks)), StopSearch);
        return count;
    };
    for (const bool placed : {false, true}) {
        if (placed) {
            tasks.machine = &machine;
            tasks.slots = allocation.slots();
        }
        const std::vector<Rank> unpolled = repartition(tasks);
        int all = 0;
        tasks.poll = [&all] { ++all; };
        CHECK(repartition(tasks) == unpolled);
        REQUIRE(all > 30);
        for (const int last : {1, 2, all / 4, all / 2, all - 1, all}) CHECK(polls(last) == last);
        tasks.poll = nullptr;
    }
}

TEST_CASE("impossible messages, periods and slots are refused") {
    Rng rng(5);
    const MeshCase one = make_mesh_case(4, 2, rng);
    const auto refusal = [](const Tasks& tasks) -> std::string {
        try {
            static_cast<void>(repartition(tasks));
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    CHECK(refusal(one.tasks(2)).empty());
    Tasks tasks = one.tasks(2);
    const CommGraph small = CommGraph::from_edges(3, {}, {}, {});
    tasks.graph = &small;
    CHECK(refusal(tasks) == "there are loads of 16 tasks, but messages of 3");
    tasks = one.tasks(2);
    tasks.periods = 0;
    CHECK(refusal(tasks) == "the number of periods must be above 0, not 0");
    const Machine machine = make_machine("mesh:2");
    tasks.periods = 1;
    tasks.machine = &machine;
    CHECK(refusal(tasks) == "there are 2 ranks, but slots of 0");
}
