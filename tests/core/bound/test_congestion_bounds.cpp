// SPDX-License-Identifier: BSD-3-Clause
// Congestion bounds: valid for all placements, and tight for matching patterns.
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "bound/bound_cases.hpp"
#include "topoloom/bound/congestion_bound.hpp"
#include "topoloom/bound/cuts/rank_cuts.hpp"
#include "topoloom/bound/hop_bytes_bound.hpp"
#include "topoloom/machine/allocations/fragments.hpp"
#include "topoloom/pattern/generators/stencil.hpp"

using namespace topoloom;

namespace {

CongestionBound find_best_bound(const BoundProblem& problem) {
    const Budget budget;
    Meter meter(budget);
    return congestion_bound(problem, meter);
}

double compute_congestion(const CommGraph& graph, const Allocation& allocation, const Placement& placement) {
    return judge(graph, allocation.machine(), placement, 1).congestion_max;
}

}  // namespace

TEST_CASE("no random placement has less congestion than the best bound, on any machine") {
    for_each_bound_case(30, [](const CommGraph& graph, const Allocation& allocation, Rng& rng) {
        const BoundProblem problem(graph, allocation);
        const CongestionBound bound = find_best_bound(problem);
        CAPTURE(bound.by);
        CAPTURE(bound.where);
        for (int i = 0; i < 10; ++i) {
            const Placement placement = random_placement(allocation, graph.rank_count(), rng);
            CHECK(bound.value <= compute_congestion(graph, allocation, placement));
        }
    });
}

TEST_CASE("ranks without messages cause no congestion") {
    for (const std::string text : {"torus:2", "torus:4x4x4", "tree:8:16", "mesh:16+node:2:2,distance=1:2"}) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        for (const std::size_t ranks : {std::size_t{1}, std::size_t{2}}) {
            const CommGraph graph = CommGraph::from_edges(ranks, {}, {}, {});
            CHECK(find_best_bound(BoundProblem(graph, allocation)).value == 0);
        }
    }
}

TEST_CASE("in small cases no placement has less congestion or fewer hop-bytes than any of the bounds") {
    const auto check = [](const CommGraph& graph, const Allocation& allocation, Rng& rng) {
        const Budget budget;
        Meter meter(budget);
        BoundProblem problem(graph, allocation);
        if (rng.below(2) == 0) problem.raise_cuts(meter);
        const bound::RouteSurvey survey = bound::survey_routes(allocation, meter);
        double least = std::numeric_limits<double>::infinity();
        for_each_placement(allocation, graph.rank_count(), [&](const Placement& placement) {
            least = std::min(least, compute_congestion(graph, allocation, placement));
        });
        for (const CongestionBound& bound :
             {injection_bound(problem), message_bound(problem, survey), cut_bound(problem, meter),
              route_cut_bound(problem, survey, meter), average_load_bound(problem, survey, meter),
              price_bound(problem, meter), find_best_bound(problem)}) {
            CAPTURE(bound.by);
            CAPTURE(bound.where);
            CHECK(bound.value <= least);
        }
        CHECK(hop_bytes_bound(problem, meter).value <= min_hop_bytes_of_all(graph, allocation));
    };
    for (std::uint64_t seed = 0; seed < bound_case_count(1); seed += machine_texts().size())
        for_each_bound_case(5, check, seed);
}

TEST_CASE("no set of k ranks has a smaller cut than the reported minimum") {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        Rng rng(seed);
        const std::size_t ranks = 1 + seed % 9;
        const CommGraph symmetric = random_pattern(ranks, 4 * ranks, rng).symmetric();
        const std::vector<std::int64_t> cuts = bound::min_cut_bytes(symmetric);
        REQUIRE(cuts.size() == ranks + 1);
        for (std::uint32_t set = 0; set < 1U << ranks; ++set) {
            std::int64_t bytes = 0;
            for (const Rank u : ids<Rank>(ranks)) {
                for (const Edge edge : symmetric.sends(u)) {
                    if ((set >> u.value & 1) == 1 && (set >> edge.peer.value & 1) == 0)
                        bytes += edge.bytes.value;
                }
            }
            CHECK(cuts[static_cast<std::size_t>(std::popcount(set))] <= bytes);
        }
    }
}

TEST_CASE("dual prices find the links that all routes between two fragments share") {
    const Machine machine = make_machine("torus:17x8x24");
    const Allocation allocation = fragmented_allocation(machine, 64, 4, 1);
    const CommGraph graph = stencil(std::vector<GridAxis>(3, {4, true}), StencilShape::star, Bytes{1024});
    const BoundProblem problem(graph, allocation);
    const Budget budget;
    Meter meter(budget);
    const double plain =
        std::max(cut_bound(problem, meter).value,
                 average_load_bound(problem, bound::survey_routes(allocation, meter), meter).value);
    const double priced = price_bound(problem, meter).value;
    CHECK(priced > 3 * plain);
    CHECK(priced <= 9216);  // congestion of the best known placement
}

TEST_CASE("the halves of recursive doubling exchange the bytes that its eigenvalues predict") {
    std::vector<Rank> sources;
    std::vector<Rank> peers;
    for (std::uint32_t u = 0; u < 64; ++u) {
        for (std::uint32_t bit = 1; bit < 64; bit *= 2) {
            sources.emplace_back(u);
            peers.emplace_back(u ^ bit);
        }
    }
    const std::vector<Bytes> bytes(sources.size(), Bytes{5});
    const auto graph = CommGraph::from_edges(64, sources, peers, bytes);
    CHECK(bound::min_cut_bytes(graph.symmetric())[32] == 2 * 5 * 32);
    // On a ring of 64 nodes the halves are joined by two links each way.
    const Machine machine = make_machine("ring:64");
    const Allocation allocation = Allocation::whole(machine);
    Meter meter{Budget{}};
    const CongestionBound cut = cut_bound(BoundProblem(graph, allocation), meter);
    CHECK(cut.by == "cut");
    CHECK(cut.value >= 5 * 32 / 2.0 * 0.999);
}

TEST_CASE("bounds are exact for stencils on a torus of the same shape") {
    for (const std::string text : {"torus:4x4x4", "torus:6x5", "mesh:5x5"}) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        std::vector<GridAxis> grid;
        for (const std::uint32_t extent : machine.grid()) grid.push_back({extent, text.front() == 't'});
        const CommGraph graph = stencil(grid, StencilShape::star, Bytes{1000});
        const CongestionBound bound = find_best_bound(BoundProblem(graph, allocation));
        CHECK(bound.value > 1000 * 0.999);
        CHECK(bound.value <= 1000);
    }
}

TEST_CASE("without split routes, bounds are multiples of the bytes that all messages are multiples of") {
    const CommGraph graph =
        stencil(std::vector<GridAxis>{{5, true}, {3, true}}, StencilShape::box, Bytes{600});
    for (const std::string text : {"mesh:3x5", "torus:5x4", "tree:3:5"}) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        const double messages = find_best_bound(BoundProblem(graph, allocation)).value / 600;
        CHECK(messages > 0);
        CHECK(messages == doctest::Approx(std::round(messages)).epsilon(1e-6));
    }
}

TEST_CASE("the best bound reports its name, and the rank or group of ranks from which it follows") {
    // Rank 0 sends to all others over the single link of its leaf.
    std::vector<Rank> sources(15, Rank{0});
    std::vector<Rank> peers;
    for (std::uint32_t u = 1; u < 16; ++u) peers.emplace_back(u);
    const auto star = CommGraph::from_edges(16, sources, peers, std::vector<Bytes>(15, Bytes{100}));
    const Machine tree = make_machine("tree:4:4");
    const Allocation leaves = Allocation::whole(tree);
    const CongestionBound hub = find_best_bound(BoundProblem(star, leaves));
    CHECK(hub.by == "injection");
    CHECK(hub.where == "rank 0");
    CHECK(hub.value == doctest::Approx(1500));
    // Alltoall: the bytes that leave a group of four use one link.
    std::vector<Rank> from;
    std::vector<Rank> to;
    for (std::uint32_t u = 0; u < 16; ++u) {
        for (std::uint32_t v = 0; v < 16; ++v) {
            if (u == v) continue;
            from.emplace_back(u);
            to.emplace_back(v);
        }
    }
    const auto all = CommGraph::from_edges(16, from, to, std::vector<Bytes>(from.size(), Bytes{100}));
    const CongestionBound group = find_best_bound(BoundProblem(all, leaves));
    CHECK(group.by == "cut");
    CHECK(group.where == "nodes 0..3");
    CHECK(group.value == doctest::Approx(4 * 12 * 100));
    // One node: no bytes cross a link.
    const Machine one = make_machine("torus:1+node:16");
    const Allocation slots = Allocation::whole(one);
    CHECK(find_best_bound(BoundProblem(all, slots)).by == "nothing");
}
