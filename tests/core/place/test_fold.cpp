// SPDX-License-Identifier: BSD-3-Clause
// Grids folded onto machines: published hops, optima for matching shapes, valid results elsewhere.
#include <doctest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>

#include "../machine/machine_texts.hpp"
#include "changed_graphs.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/machine/allocations/fragments.hpp"
#include "topoloom/metric/hop_bytes.hpp"
#include "topoloom/pattern/generators/stencil.hpp"
#include "topoloom/place/grid/fold_plan.hpp"
#include "topoloom/place/mapper.hpp"

using namespace topoloom;

namespace {

CommGraph grid_of(const Extents& extents, bool periodic, Bytes bytes = Bytes{1}) {
    std::vector<GridAxis> axes;
    for (const std::uint32_t extent : extents) axes.push_back({extent, periodic});
    return stencil(axes, StencilShape::star, bytes);
}

std::int64_t count_hops(const std::string& machine_text, const CommGraph& graph, const std::string& mapper,
                        double imbalance = 0) {
    const Machine machine = make_machine(machine_text);
    const Allocation allocation = Allocation::whole(machine);
    const Problem problem(graph, allocation, 1, 1, {.imbalance = imbalance});
    return hop_bytes(graph, machine, place(problem, mapper).placement.slots());
}

}  // namespace

TEST_CASE("hops of stencils equal those of Bhatele and Kale, tables 4 and 5") {
    // 512^3 elements in chares of 16^3 and of 32^3, on meshes of nodes with two processors
    CHECK(count_hops("mesh:4x4x8+node:2", grid_of({32, 32, 32}, true), "fold") == 53'248);
    CHECK(count_hops("mesh:4x4x8+node:2", grid_of({16, 16, 16}, true), "fold") == 13'312);
    CHECK(count_hops("mesh:4x8x8+node:2", grid_of({32, 32, 32}, true), "fold") == 69'632);
    CHECK(count_hops("mesh:4x8x8+node:2", grid_of({16, 16, 16}, true), "fold") == 17'408);
    // 8192 x 131072 elements in chares of 128^2 and of 256^2, on tori
    const CommGraph large = grid_of({64, 1024}, true);
    const CommGraph small = grid_of({32, 512}, true);
    const std::string published = "fold(reflect=no,";
    CHECK(count_hops("torus:8x8x8", large, published + "grid=64x1024,boxes=8x64)") == 25'600);
    CHECK(count_hops("torus:8x8x8", small, published + "grid=32x512,boxes=8x64)") == 12'800);
    CHECK(count_hops("torus:8x16x16", large, published + "grid=64x1024,boxes=8x256)") == 51'200);
    CHECK(count_hops("torus:8x16x16", small, published + "grid=32x512,boxes=8x256)") == 25'600);
    CHECK(count_hops("torus:8x8x8", large, "round-robin") == 149'504);
    CHECK(count_hops("torus:8x8x8", small, "hashed(grid=32x512)", 3.0) == 298'736);
    // With different extents, planes follow each other along z, and lie along y.
    const std::string planes = "fold(reflect=no,onto=x+zy,";
    CHECK(count_hops("torus:8x8x16", large, planes + "grid=64x1024)") == 34'816);
    CHECK(count_hops("torus:8x8x16", small, planes + "grid=32x512)") == 17'408);
    CHECK(count_hops("torus:8x32x16", large, planes + "grid=64x1024)") == 83'968);
    CHECK(count_hops("torus:16x32x16", small, planes + "grid=32x512)") == 50'176);
    // Reflected folds avoid the way back to the start of a row, and other cuts have even fewer hops.
    CHECK(count_hops("torus:8x8x8", large, "fold") == 24'576);
    CHECK(count_hops("torus:8x16x16", large, "fold") == 49'152);
}

TEST_CASE("a grid on a machine of its own shape takes one hop per message, for any numbering of its ranks") {
    struct MatchingGrid {
        std::string machine;
        Extents extents;
        bool periodic;
    };
    for (const auto& [text, extents, periodic] :
         {MatchingGrid{"torus:8x8x8", {8, 8, 8}, true}, MatchingGrid{"mesh:5x7", {7, 5}, false},
          MatchingGrid{"torus:4x6x3", {3, 4, 6}, false}, MatchingGrid{"torus:3x7x5x2", {2, 5, 3, 7}, true},
          MatchingGrid{"torus:4x8", {32}, true}, MatchingGrid{"torus:4x4x4", {16, 4}, true},
          MatchingGrid{"mesh:4x4x4", {64}, false}, MatchingGrid{"torus:4x4", {2, 2, 2, 2}, false}}) {
        CAPTURE(text);
        const CommGraph graph = grid_of(extents, periodic);
        CHECK(count_hops(text, graph, "fold(grid=" + format_extents(extents) + ")") ==
              graph.total_bytes().value);
        CHECK(count_hops(text, renumber_ranks(graph, 3), "fold") == graph.total_bytes().value);
    }
}

TEST_CASE("the option onto= lists the axes of a grid, slowest first") {
    struct OntoExample {
        std::string onto;
        Extents routers;
        std::array<std::array<std::uint32_t, 3>, 2> stride;  // [grid axis][x, y, z]
    };
    const Machine machine = make_machine("torus:2x3x5+node:2");
    const Allocation allocation = Allocation::whole(machine);
    for (const auto& [onto, routers, stride] : {OntoExample{"x+zy", {2, 15}, {{{1, 0, 0}, {0, 1, 3}}}},
                                                OntoExample{"x+yz", {2, 15}, {{{1, 0, 0}, {0, 5, 1}}}},
                                                OntoExample{"zx+y", {10, 3}, {{{1, 0, 2}, {0, 1, 0}}}},
                                                OntoExample{"+yxz", {1, 30}, {{{0, 0, 0}, {5, 10, 1}}}}}) {
        CAPTURE(onto);
        const Extents cells{routers[0] * 4, routers[1] * 4};
        const CommGraph graph = grid_of(cells, true);
        const Problem problem(graph, allocation, 1, 1, {.imbalance = 0});
        const std::string mapper = "fold(grid=" + format_extents(cells) + ",reflect=no,onto=" + onto + ")";
        const Placement placed = place(problem, mapper).placement;
        for (const Rank u : ids<Rank>(graph.rank_count())) {
            const auto at = machine.coordinates(machine.node(placed[u]));
            for (std::size_t axis = 0; axis < 2; ++axis) {
                std::uint32_t along = 0;
                for (std::size_t d = 0; d < 3; ++d) along += stride[axis][d] * at[d];
                REQUIRE(along == (axis == 0 ? u.value / cells[1] : u.value % cells[1]) / 4);
            }
        }
    }
}

TEST_CASE("onto= is refused if it does not name every axis once, or if the grid does not fit") {
    const CommGraph graph = grid_of({16, 16}, true);
    const auto fails = [&](const std::string& onto, const std::string& message,
                           const std::string& machine = "torus:2x4x4") {
        CAPTURE(onto);
        CHECK_THROWS_WITH_AS(count_hops(machine, graph, "fold(grid=16x16,onto=" + onto + ")"),
                             message.c_str(), Error);
    };
    fails("x+yw", "fold: onto=x+yw names the axis 'w'; the machine has xyz");
    fails("x+yx", "fold: onto=x+yx names the axis x twice; once is enough");
    fails("x+y", "fold: onto=x+y leaves out the axis z of the machine");
    fails("xyz",
          "fold: onto=xyz is for a grid of 1 axis, and the ranks' grid has 2; give a part for each, joined "
          "by '+'");
    fails("yzx+",
          "fold: onto=yzx+ maps 16x16 cells onto 32x1 routers, which does not divide them; leave out onto");
    CHECK_THROWS_WITH_AS(count_hops("torus:2x4x4", graph, "fold(onto=x+zy)"),
                         "fold: onto=x+zy is for the axes of a grid in their order; name it, as in "
                         "fold(grid=64x1024,onto=x+zy)",
                         Error);
    fails(
        "x+", "fold: onto=x+ needs slots that form a complete torus or mesh; leave out onto",
        "graph:16+0:" + [] {
            std::string ring;
            for (int i = 0; i < 16; ++i)
                ring += (i > 0 ? "," : "") + std::to_string(i) + "-" + std::to_string((i + 1) % 16);
            return ring;
        }());
}

TEST_CASE("on few slots no placement of the grid is better than fold") {
    struct SmallGrid {
        std::string machine;
        Extents extents;
        bool periodic;
    };
    for (const auto& [text, extents, periodic] :
         {SmallGrid{"mesh:2x2x2", {2, 4}, true}, SmallGrid{"torus:3x3", {3, 3}, false},
          SmallGrid{"mesh:8", {2, 4}, false}, SmallGrid{"mesh:3x3", {9}, false},
          SmallGrid{"torus:8", {2, 2, 2}, false}, SmallGrid{"tree:2:2:2,distance=1:3:9", {2, 4}, false},
          SmallGrid{"mesh:4+node:2,distance=1", {2, 4}, true}}) {
        CAPTURE(text);
        const CommGraph graph = grid_of(extents, periodic);
        CHECK(count_hops(text, graph, "fold") == count_hops(text, graph, "exact"));
    }
}

TEST_CASE("the hop-bytes reported for a plan of equal boxes are those of its placement") {
    for (const std::string text :
         {"torus:4x4x4", "mesh:4x8", "torus:2x4x4+node:4:2,distance=1:3", "torus:4x4,nodes=2",
          "torus:4x4,nodes=2,hosts=free", "torus:4x4,cards=1+node:2,distance=3",
          "tree:4:4:2,distance=1:10:50", "torus:16x2+node:2,distance=4", "mesh:32"}) {
        for (const Extents& extents :
             {Extents{32, 64}, Extents{16, 16, 8}, Extents{8, 4, 8, 8}, Extents{256, 8}, Extents{4096}}) {
            for (const bool periodic : {true, false}) {
                for (const bool reflect : {true, false}) {
                    CAPTURE(text);
                    CAPTURE(format_extents(extents));
                    CAPTURE(periodic);
                    CAPTURE(reflect);
                    const Machine machine = make_machine(text);
                    const Allocation allocation = Allocation::whole(machine);
                    const CommGraph graph = grid_of(extents, periodic, Bytes{3});
                    const Problem problem(graph, allocation, 1, 1, {.imbalance = 0});
                    const RankGrid grid = rank_grid(problem, extents, "fold");
                    const auto slots = grid::slot_grid(allocation, allocation.slot_count());
                    REQUIRE(slots);
                    const auto plan = grid::plan_fold({grid,
                                                       *slots,
                                                       machine.node_spec().hop_weight,
                                                       2 * machine.node_spec().host_distance,
                                                       reflect,
                                                       {},
                                                       {}});
                    REQUIRE(plan);
                    const auto placed = grid::place_in_boxes(problem, grid, plan->boxes, plan->slot_of_box);
                    REQUIRE(placed);
                    CHECK(plan->hop_bytes ==
                          doctest::Approx(static_cast<double>(hop_bytes(graph, machine, placed->slots()))));
                }
            }
        }
    }
}

TEST_CASE("any grid can be folded onto any machine or a part of it, within the capacities") {
    const std::vector<double> loads{1, 2, 3, 1, 5};
    for (const std::string& text : machine_texts_with_node_levels()) {
        const Machine machine = make_machine(text);
        if (machine.slot_count() > 100) continue;
        std::vector<Allocation> allocations{Allocation::whole(machine)};
        std::vector<Slot> some;
        for (const Slot slot : allocations[0].slots()) {
            if (slot.value % 4 != 2) some.push_back(slot);
        }
        allocations.push_back(Allocation::of_slots(machine, some));
        for (const Allocation& allocation : allocations) {
            const auto slots = static_cast<std::uint32_t>(allocation.slot_count());
            for (const Extents& extents : {Extents{slots}, Extents{1, std::max(1U, slots / 2), 2},
                                           Extents{10, 13}, Extents{5, 6, 7}}) {
                CAPTURE(text);
                CAPTURE(format_extents(extents));
                const CommGraph graph = grid_of(extents, extents.size() % 2 == 0);
                const CommGraph heavy = CommGraph::from_rows(
                    graph.rank_count(),
                    [&](Rank u, const auto& add) {
                        for (const Edge edge : graph.sends(u)) add(edge);
                    },
                    [&] {
                        std::vector<double> all;
                        for (std::size_t u = 0; u < graph.rank_count(); ++u) all.push_back(loads[u % 5]);
                        return all;
                    }());
                const bool alone = graph.rank_count() <= slots;
                for (const CommGraph* one : {&graph, &heavy}) {
                    const Problem problem(*one, allocation, 1, 1, {.imbalance = one == &heavy ? 4.0 : 0.0});
                    for (const std::string mapper : {"fold", "box", "hashed"}) {
                        if (alone && mapper != "fold") continue;
                        const Placement placed =
                            place(problem, mapper + "(grid=" + format_extents(extents) + ")").placement;
                        std::vector<std::int64_t> held(machine.slot_count(), 0);
                        for (const Rank u : ids<Rank>(one->rank_count()))
                            held[placed[u].value] += problem.capacity().masses()[u.value];
                        for (std::size_t i = 0; i < slots; ++i)
                            CHECK(held[allocation.slots()[i].value] <= problem.capacity().capacities()[i]);
                    }
                }
            }
        }
    }
}

TEST_CASE("fold is much better than rank order on a fragmented allocation") {
    const Machine machine = make_machine("torus:16x16x16");
    const Allocation allocation = fragmented_allocation(machine, 500, 5, 1);
    const CommGraph graph = grid_of({20, 25}, true);
    const CommGraph fine = grid_of({100, 200}, true);
    for (const Problem& problem :
         {Problem(graph, allocation), Problem(fine, allocation, 1, 0, {.imbalance = 0})}) {
        const auto value = [&](std::string_view mapper) {
            return problem.value(place(problem, mapper).placement.slots());
        };
        CHECK(4 * value("fold") < 3 * value("block"));
    }
}

TEST_CASE("auto is at least as good as fold and box, also with different loads") {
    const Machine machine = make_machine("torus:4x3+node:2");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph equal = grid_of({12, 20}, true);
    std::vector<double> loads;
    for (std::size_t u = 0; u < equal.rank_count(); ++u) loads.push_back(u % 7 == 0 ? 4 : 1);
    const CommGraph heavy = CommGraph::from_rows(
        equal.rank_count(),
        [&](Rank u, const auto& add) {
            for (const Edge edge : equal.sends(u)) add(edge);
        },
        loads);
    for (const CommGraph* graph : {&equal, &heavy}) {
        const Problem problem(*graph, allocation, 1, 1, {.imbalance = 0.05});
        const auto value = [&](std::string_view mapper) {
            return problem.value(place(problem, mapper).placement.slots());
        };
        for (const std::string_view effort : {"auto(effort=fast)", "auto"}) {
            CHECK(value(effort) <= value("fold"));
            CHECK(value(effort) <= value("box"));
        }
    }
}

TEST_CASE("unsuitable boxes are refused, and the error names suitable ones") {
    const Machine machine = make_machine("torus:4x4");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = grid_of({16, 16}, true);
    const Problem shared(graph, allocation, 1, 1, {.imbalance = 0});
    const auto run = [](const Problem& problem, const std::string& mapper) { (void)place(problem, mapper); };
    CHECK_THROWS_WITH_AS(run(shared, "fold(grid=16x17)"),
                         "fold: a grid of 16x17 does not have the 256 cells that the ranks need; the nearest "
                         "that does is 16x16",
                         Error);
    CHECK_THROWS_WITH_AS(
        run(shared, "fold(boxes=4x4x1)"),
        "fold: boxes of 4x4x1 for ranks in a grid of 16x16; give one number for each of the 2 axes", Error);
    CHECK_THROWS_WITH_AS(
        run(shared, "fold(boxes=3x5)"),
        "fold: 3x5 boxes do not give the 16 boxes that the slots need; the nearest that do are 4x4", Error);
    const CommGraph few = grid_of({4, 4}, true);
    CHECK_THROWS_WITH_AS(
        run(Problem(few, allocation), "fold(boxes=4x4)"),
        "fold: every rank has a slot of its own, so there are no boxes to choose; leave out boxes", Error);
}
