// SPDX-License-Identifier: BSD-3-Clause
// The default objective, and the reason that is reported for it.
#include "topoloom/pattern/generators/ring.hpp"
#include "topoloom/place/portfolio/objective_choice.hpp"

#include <doctest.h>

#include <array>
#include <string>

#include "topoloom/machine/text/machine_text.hpp"

using namespace topoloom;

namespace {

constexpr const char* timed = "hyperx:4x4,bandwidth=10GB/s,cards=1+node:2,startup=1us,latency=1us";

ObjectiveChoice choose_objective_for(const std::string& text, const CommGraph& graph) {
    const Machine machine = make_machine(text);
    const Allocation allocation = Allocation::whole(machine);
    return choose_objective(Problem(graph, allocation), {}, {});
}

}  // namespace

TEST_CASE("on machines with bandwidths the objective is time, and the reason says what bounds it") {
    const ObjectiveChoice large = choose_objective_for(timed, ring(32, Bytes{10'000'000}));
    CHECK(large.objective == ObjectiveKind::time);
    // Messages take 1 ms on each link, and 2 us of startup and latency.
    CHECK(large.reason == "bandwidth-bound: links, NICs and memory are 100 % of the predicted time");
    const ObjectiveChoice small = choose_objective_for(timed, ring(32, Bytes{10}));
    CHECK(small.objective == ObjectiveKind::time);
    CHECK(small.reason == "latency-bound: startup and latency are 100 % of the predicted time");
}

TEST_CASE("without bandwidths or messages the objective is hop-bytes") {
    CHECK(choose_objective_for("hyperx:4x4+node:2", ring(32, Bytes{10'000'000})).reason ==
          "the machine gives no bandwidths");
    CHECK(choose_objective_for("hyperx:4x4+node:2", ring(32, Bytes{10'000'000})).objective ==
          ObjectiveKind::hop_bytes);
    const CommGraph silent = CommGraph::from_edges(32, {}, {}, {});
    CHECK(choose_objective_for(timed, silent).reason == "nothing is sent");
    CHECK(choose_objective_for(timed, silent).objective == ObjectiveKind::hop_bytes);
}

TEST_CASE("problems that support only hop-bytes are not placed for time") {
    const Machine machine = make_machine(timed);
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph crowded = ring(64, Bytes{10'000'000});
    const Problem sharing(crowded, allocation, 1, 1, {.imbalance = 0.0});
    CHECK(choose_objective(sharing, {}, {}).reason == "ranks share slots");
    const CommGraph graph = ring(32, Bytes{10'000'000});
    const Problem moved =
        Problem(graph, allocation).with_migration({std::vector<std::optional<Slot>>(32), Bytes{1}});
    CHECK(choose_objective(moved, {}, {}).objective == ObjectiveKind::hop_bytes);
    CHECK(choose_objective(moved, {}, {}).reason == "an earlier placement is weighed against");
}

TEST_CASE("the choice of the objective considers phases and background traffic") {
    const Machine machine = make_machine(timed);
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph small = ring(32, Bytes{100});
    const CommGraph large = ring(32, Bytes{10'000'000});
    const Problem problem(small, allocation);
    CHECK(choose_objective(problem, {&small, &large}, {}).objective == ObjectiveKind::time);
    const std::vector<double> background(machine.link_count(), 1e6);
    CHECK(choose_objective(problem, {}, background).objective == ObjectiveKind::time);
}
