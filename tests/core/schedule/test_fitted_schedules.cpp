// SPDX-License-Identifier: BSD-3-Clause
// Schedules fitted to the machine have no contention.
#include <doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "schedule/contended_rounds.hpp"
#include "schedule/first_ids.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/schedule/check_schedule.hpp"
#include "topoloom/schedule/collectives/registry.hpp"
#include "topoloom/schedule/collectives/shapes/seats.hpp"
#include "topoloom/schedule/orders/contention_free_order.hpp"
#include "topoloom/schedule/orders/fitted_schedules.hpp"

using namespace topoloom;
using testing::contended_rounds;
using testing::first_nodes;

namespace {

using Texts = std::vector<std::string>;

/// At least 2 random nodes, in the order of the machine.
std::vector<Node> choose_random_nodes(Rng& rng, std::size_t count) {
    std::vector<Node> nodes = first_nodes(count);
    rng.shuffle(std::span(nodes));
    nodes.resize(2 + rng.below(static_cast<std::uint32_t>(count - 1)));
    std::ranges::sort(nodes);
    return nodes;
}

void check_contention_free(const Machine& machine, const AnySchedule& schedule, std::span<const Node> nodes,
                           ContentionModel meeting) {
    CHECK(contended_rounds(machine, list_schedule_steps(schedule), nodes, meeting) == 0);
}

/// Nodes of a torus of these extents, enumerated with the first axis of `order` slowest.
std::vector<Node> nodes_by_axes(const Extents& extents, const std::vector<std::size_t>& order) {
    Extents sorted;
    for (const std::size_t axis : order) sorted.push_back(extents[axis]);
    const Extents strides = row_major_strides(extents);
    std::vector<Node> nodes;
    for_each_cell(sorted, [&](const Extents& at) {
        std::size_t node = 0;
        for (std::size_t i = 0; i < order.size(); ++i) node += at[i] * strides[order[i]];
        nodes.push_back(Node{node});
    });
    return nodes;
}

}  // namespace

TEST_CASE("on tori and meshes no link is used twice in a round, for any root") {
    Rng rng(3);
    for (const char* text : {"torus:7", "torus:3x4", "torus:4x4x4", "torus:2x3x3", "torus:3x1x5", "mesh:4x3",
                             "mesh:2x3x4", "torus:4x3x3,wrap=101", "torus:2x2x2", "torus:3x3x3x3"}) {
        const Machine machine = make_machine(text);
        CAPTURE(text);
        const std::vector<Node> nodes = first_nodes(machine.node_count());
        const Texts fitted = fitted_schedules(machine, nodes);
        REQUIRE(fitted.size() == 1);
        for (const Operation operation : {Operation::bcast, Operation::reduce}) {
            const Call call{operation, nodes.size(), Bytes{1000},
                            Rank{rng.below(static_cast<std::uint32_t>(nodes.size()))}};
            const AnySchedule schedule =
                make_schedule(call, fitted[0].substr(0, fitted[0].size() - 1) + ",segment=60)");
            check_schedule(schedule);
            check_contention_free(machine, schedule, nodes, ContentionModel::on_routes);
        }
    }
}

TEST_CASE(
    "the grid in a fitted schedule is the box of nodes that the ranks fill, with its axes in rank order") {
    const Machine torus = make_machine("torus:4x5x6");
    const Extents extents{4, 5, 6};
    CHECK(fitted_schedules(torus, nodes_by_axes(extents, {0, 1, 2})) == Texts{"disjoint-trees(grid=4x5x6)"});
    CHECK(fitted_schedules(torus, nodes_by_axes(extents, {2, 0, 1})) == Texts{"disjoint-trees(grid=6x4x5)"});
    // The box starts elsewhere in the torus and wraps around.
    std::vector<Node> turned = nodes_by_axes(extents, {0, 1, 2});
    for (Node& node : turned) node = Node{(node.value + 60) % 120};
    CHECK(fitted_schedules(torus, turned) == Texts{"disjoint-trees(grid=4x5x6)"});
    CHECK(fitted_schedules(torus, std::span(turned).first(60)) ==
          Texts{"disjoint-trees(grid=2x5x6,lines=open)"});
    std::swap(turned[3], turned[4]);
    CHECK(fitted_schedules(torus, turned).empty());
    CHECK(fitted_schedules(torus, std::span(turned).first(59)).empty());
    const std::vector<Node> line{Node{5}, Node{0}};  // a line that wraps around the end of a ring
    CHECK(fitted_schedules(torus, line) == Texts{"disjoint-trees(grid=2,lines=open)"});
    std::vector<Node> four_each;
    for (const Node node : first_nodes(120)) four_each.insert(four_each.end(), 4, node);
    CHECK(fitted_schedules(torus, four_each) == Texts{"disjoint-trees(grid=4x5x6x4)"});
    CHECK(fitted_schedules(torus, std::span(four_each).first(four_each.size() - 3)).empty());
    four_each[3] = Node{1};
    CHECK(fitted_schedules(torus, four_each).empty());
}

TEST_CASE("on fat trees with missing nodes, fitted pairwise and cyclic schedules are contention-free") {
    Rng rng(5);
    for (const char* text : {"fattree:4:4", "fattree:4:4:4", "fattree:3:5", "fattree:6:2:3", "fattree:8"}) {
        const Machine machine = make_machine(text);
        CAPTURE(text);
        for (int i = 0; i < 12; ++i) {
            const std::vector<Node> nodes = choose_random_nodes(rng, machine.node_count());
            CAPTURE(nodes.size());
            for (const std::string& fitted : fitted_schedules(machine, nodes)) {
                CAPTURE(fitted);
                const Call call{Operation::alltoall, nodes.size(), Bytes{7}};
                const AnySchedule schedule = make_schedule(call, fitted);
                check_schedule(schedule);
                const bool exchanges = fitted.starts_with("pairwise");
                check_contention_free(machine, schedule, nodes,
                                      exchanges ? ContentionModel::any_ascent : ContentionModel::on_routes);
            }
        }
    }
}

TEST_CASE("on a fat tree, schedules are fitted only if nodes are missing or ranks are not in order") {
    const Machine tree = make_machine("fattree:4:4");
    std::vector<Node> nodes = first_nodes(16);
    CHECK(fitted_schedules(tree, nodes).empty());
    nodes.erase(nodes.begin() + 5);
    CHECK(fitted_schedules(tree, nodes) == Texts{"pairwise(seats=0-6:8-15)", "cyclic(seats=0-4:6-15)"});
    nodes.resize(14);
    CHECK(fitted_schedules(tree, nodes) == Texts{"pairwise(seats=0-6:8-14)", "cyclic(seats=0-4:6-14/16)"});
    std::swap(nodes[0], nodes[1]);
    CHECK(fitted_schedules(tree, nodes)[0] == "pairwise(seats=1:0:2-6:8-14)");
    const std::vector<Node> three_each{Node{4}, Node{4}, Node{4}, Node{6}, Node{6}, Node{6}};
    CHECK(fitted_schedules(tree, three_each) == Texts{"pairwise(seats=0-2:4-6)", "cyclic(seats=0-2:6-8/12)"});
    CHECK(fitted_schedules(make_machine("dragonfly:5x4,nodes=2"), nodes).empty());
}

TEST_CASE("invalid seats, or seats for another number of ranks, are refused") {
    const Call call{Operation::alltoall, 4, Bytes{8}};
    for (const auto& [text, what] :
         {std::pair("pairwise(seats=0-2)", "schedule 'pairwise(seats=0-2)' is for 3 ranks, not for 4"),
          {"cyclic(seats=0-2:1)", "seats '0-2:1': seat 1 occurs twice"},
          {"cyclic(seats=3-0)", "seats '3-0': the run 3-0 ends before it begins"},
          {"cyclic(seats=0:x:2)", "seats '0:x:2': 'x' is not a number below 16777216, as in 0-2:4-6:8/16"},
          {"pairwise(seats=0-99999999)",
           "seats '0-99999999': '99999999' is not a number below 16777216, as in 0-2:4-6:8/16"}}) {
        CHECK_THROWS_WITH_AS((void)make_schedule(call, text), what, Error);
    }
    const Call bcast{Operation::bcast, 60, Bytes{8}};
    CHECK_THROWS_WITH_AS((void)make_schedule(bcast, "disjoint-trees(grid=4x4x4)"),
                         "schedule 'disjoint-trees(grid=4x4x4)' is for 64 ranks, not for 60", Error);
}
