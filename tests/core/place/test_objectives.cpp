// SPDX-License-Identifier: BSD-3-Clause
// Placements for objectives other than hop-bytes: never worse than the start, and as expected in cases worked
// out by hand.
#include <doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/machine/allocations/fragments.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/pattern/generators/random_geometric.hpp"
#include "topoloom/place/mapper.hpp"

#include "pattern/collectives.hpp"

using namespace topoloom;

namespace {

CommGraph make_pattern(std::size_t ranks, std::vector<std::array<std::uint32_t, 3>> list) {
    std::vector<Rank> from;
    std::vector<Rank> to;
    std::vector<Bytes> bytes;
    for (const auto& [source, target, amount] : list) {
        from.emplace_back(source);
        to.emplace_back(target);
        bytes.emplace_back(amount);
    }
    return CommGraph::from_edges(ranks, from, to, bytes);
}

}  // namespace

TEST_CASE("auto and the link improvers are never worse than their starts, for any objective") {
    const Machine machine =
        make_machine("torus:5x5x5,bandwidth=1GB/s,latency=1us+node:2,bandwidth=2GB/s,startup=1us");
    const Allocation allocation = fragmented_allocation(machine, 20, 3, 1);
    const CommGraph first = random_geometric(36, Bytes{100'000}, 1, 3);
    const CommGraph second = recursive_doubling(36, Bytes{1000});
    const Problem hop_bytes_problem(first, allocation);
    std::vector<double> background(machine.link_count(), 0);
    for (std::size_t i = 0; i < background.size(); i += 3) background[i] = 50'000;
    for (const std::string text : {"congestion", "congestion-soft", "time", "weighted(hop-bytes=1,time=1)"}) {
        CAPTURE(text);
        const Problem problem =
            hop_bytes_problem.with_objective(parse_objective(text), {&first, &second}, background);
        const auto value = [&](const std::string& mapper) {
            return problem.objective_value(place(problem, mapper).placement.slots());
        };
        const double start = value("mahd");
        for (const std::string improver : {"local-opt", "congestion(sweeps=10)", "rotate"}) {
            CAPTURE(improver);
            CHECK(value("mahd+" + improver) <= start);
        }
        const double found = value("auto(effort=fast)");
        for (const std::string mapper : {"block", "auto(effort=fast)+swap"}) CHECK(found <= value(mapper));
    }
}

TEST_CASE("messages of different phases do not contend for links") {
    // On a line 0 -> 2 and 1 -> 3 share the middle link if they are in one phase.
    const Machine machine = make_machine("mesh:4");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph both = make_pattern(4, {{0, 2, 10}, {1, 3, 10}});
    const CommGraph first = make_pattern(4, {{0, 2, 10}});
    const CommGraph second = make_pattern(4, {{1, 3, 10}});
    const Problem hop_bytes_problem(both, allocation);
    const Objective congestion = parse_objective("congestion");
    const auto block = allocation.slots();
    CHECK(hop_bytes_problem.with_objective(congestion, {}, {}).objective_value(block) == 20);
    CHECK(hop_bytes_problem.with_objective(congestion, {&first, &second}, {}).objective_value(block) == 20);
    const CommGraph uneven = make_pattern(4, {{0, 2, 10}, {2, 0, 30}});
    CHECK(Problem(uneven, allocation)
              .with_objective(congestion, {&first, &second}, {})
              .objective_value(block) == 20);
}

TEST_CASE("ranks avoid links that background traffic uses") {
    // Both neighbors are one hop away, but the link to one of them is busy.
    const Machine machine = make_machine("torus:6");
    const Allocation allocation = Allocation::of_slots(machine, {Slot{0}, Slot{1}, Slot{5}});
    const CommGraph graph = make_pattern(2, {{0, 1, 10}, {1, 0, 10}});
    std::vector<double> background(machine.link_count(), 0);
    background[0] = 100;  // 0 -> 1
    const Problem problem =
        Problem(graph, allocation).with_objective(parse_objective("congestion"), {}, background);
    for (const std::string mapper : {"block+local-opt", "block+congestion", "auto"}) {
        CAPTURE(mapper);
        const Placement placement = place(problem, mapper).placement;
        const auto used = placement.slots();
        CHECK(std::ranges::find(used, Slot{1}) == used.end());
        CHECK(problem.objective_value(used) == 100);
    }
}

TEST_CASE("a port slower than the links counts only in the predicted time") {
    const Machine machine = make_machine(
        "torus:4,bandwidth=10MB/s,latency=1s"
        "+node:2,bandwidth=5MB/s,startup=3s,latency=7s,memory=50MB/s,memory-startup=4s");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = make_pattern(2, {{0, 1, 100'000'000}});
    const std::vector<Slot> apart{Slot{0}, Slot{4}};     // two hops
    const std::vector<Slot> together{Slot{0}, Slot{1}};  // one node
    const Problem hop_bytes_problem(graph, allocation);
    const Problem congestion = hop_bytes_problem.with_objective(parse_objective("congestion"), {}, {});
    const Problem time = hop_bytes_problem.with_objective(parse_objective("time"), {}, {});
    CHECK(congestion.objective_value(apart) == 10);
    CHECK(congestion.objective_value(together) == 0);
    CHECK(time.objective_value(apart) == doctest::Approx(7 + 2 + 3 + 20));
    CHECK(time.objective_value(together) == doctest::Approx(4 + 2));
    CHECK(congestion.time(apart) == time.objective_value(apart));
    const Problem mix =
        hop_bytes_problem.with_objective(parse_objective("weighted(hop-bytes=1,time=3)"), {}, {});
    // In block order, hop-bytes are 0 and the time is the reference time.
    CHECK(mix.objective_value(together) == doctest::Approx(3));
}

TEST_CASE("the objective time is refused on machines without bandwidths") {
    const Machine machine = make_machine("torus:4+node:2");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = make_pattern(4, {{0, 1, 100}});
    const Problem hop_bytes_problem(graph, allocation);
    CHECK(hop_bytes_problem.time(allocation.slots().first(4)) == 0);
    for (const std::string objective : {"time", "weighted(hop-bytes=1,time=3)"}) {
        CHECK_THROWS_WITH_AS(
            (void)hop_bytes_problem.with_objective(parse_objective(objective), {}, {}),
            "time needs bandwidths, and the machine 'torus:4+node:2' gives none; describe them "
            "(bandwidth=25GB/s), or choose congestion",
            Error);
    }
}

TEST_CASE("objectives are refused with shared slots, migration, and phases or background that do not fit") {
    const Machine machine = make_machine("torus:4");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = make_pattern(8, {{0, 1, 100}});
    const CommGraph other = make_pattern(7, {{0, 1, 100}});
    const Objective congestion = parse_objective("congestion");
    const Problem shared(graph, allocation, 1, 1, {.imbalance = 0.0});
    CHECK_THROWS_WITH_AS((void)shared.with_objective(congestion, {}, {}), doctest::Contains("share slots"),
                         Error);
    CHECK_NOTHROW((void)shared.with_objective(parse_objective("hop-bytes"), {}, {}));
    const CommGraph four = make_pattern(4, {{0, 1, 100}});
    const Problem unshared(four, allocation);
    CHECK_THROWS_WITH_AS((void)unshared.with_objective(congestion, {&other}, {}),
                         doctest::Contains("7 ranks"), Error);
    const Problem moved = unshared.with_migration({std::vector<std::optional<Slot>>(4), Bytes{1}});
    CHECK_THROWS_WITH_AS((void)moved.with_objective(congestion, {}, {}),
                         doctest::Contains("earlier placement"), Error);
    const std::vector<double> background(3, 1.0);
    CHECK_THROWS_WITH_AS((void)unshared.with_objective(congestion, {}, background),
                         doctest::Contains("background"), Error);
}
