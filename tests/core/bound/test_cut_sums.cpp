// SPDX-License-Identifier: BSD-3-Clause
// Least cuts of grid patterns, and the bound on hop-bytes that sums them over the cuts of a machine.
#include <bit>
#include <string>
#include <vector>

#include "bound/bound_cases.hpp"
#include "topoloom/bound/cuts/flow_cuts.hpp"
#include "topoloom/bound/cuts/grid_cuts.hpp"
#include "topoloom/bound/cuts/rank_cuts.hpp"
#include "topoloom/bound/hop_bytes_cut_bound.hpp"
#include "topoloom/pattern/generators/stencil.hpp"

using namespace topoloom;

namespace {

/// A stencil of at most `most` ranks, whose bytes depend on the axes along which ranks differ.
CommGraph random_stencil(std::size_t most, Rng& rng) {
    std::vector<GridAxis> axes;
    std::size_t ranks = 1;
    while (axes.size() < 4) {
        const std::uint32_t extent = 2 + rng.below(axes.empty() ? 6 : 3);
        if (ranks * extent > most) break;
        ranks *= extent;
        axes.push_back({extent, rng.below(2) == 0});
    }
    if (axes.empty()) axes.push_back({1, false});
    const CommGraph plain =
        stencil(axes, rng.below(3) == 0 ? StencilShape::box : StencilShape::star, Bytes{1});
    std::vector<std::int64_t> bytes_by_difference(most, 0);
    for (std::int64_t& bytes : bytes_by_difference) bytes = 1 + rng.below(7);
    const bool is_uniform = rng.below(2) == 0;
    std::vector<Rank> sources;
    std::vector<Rank> peers;
    std::vector<Bytes> bytes;
    for (const Rank u : ids<Rank>(ranks)) {
        for (const Edge edge : plain.sends(u)) {
            sources.push_back(u);
            peers.push_back(edge.peer);
            const std::uint32_t difference =
                u < edge.peer ? edge.peer.value - u.value : u.value - edge.peer.value;
            bytes.emplace_back(is_uniform ? 5 : bytes_by_difference[difference]);
        }
    }
    return CommGraph::from_edges(ranks, sources, peers, bytes);
}

/// [k]: minimum bytes between k ranks and the others, by enumeration of all sets.
std::vector<std::int64_t> enumerate_min_cuts(const CommGraph& symmetric) {
    const std::size_t ranks = symmetric.rank_count();
    std::vector<std::int64_t> least(ranks + 1, std::numeric_limits<std::int64_t>::max());
    std::vector<std::int64_t> cut(std::size_t{1} << ranks, 0);
    least[0] = 0;
    for (std::uint32_t set = 1; set < 1U << ranks; ++set) {
        // The cut without the lowest rank of the set, whose messages change sides.
        const Rank u{static_cast<std::uint32_t>(std::countr_zero(set))};
        std::int64_t bytes = cut[set & (set - 1)];
        for (const Edge edge : symmetric.sends(u))
            bytes += (set >> edge.peer.value & 1) == 0 ? edge.bytes.value : -edge.bytes.value;
        cut[set] = bytes;
        std::int64_t& minimum = least[static_cast<std::size_t>(std::popcount(set))];
        minimum = std::min(minimum, bytes);
    }
    return least;
}

}  // namespace

TEST_CASE("no k ranks of a grid have a smaller cut than isoperimetry and flows allow") {
    for (std::uint64_t seed = 0; seed < bound_case_count(100); ++seed) {
        CAPTURE(seed);
        Rng rng(seed);
        const CommGraph symmetric = random_stencil(seed % 8 == 0 ? 16 : 12, rng).symmetric();
        const std::vector<std::int64_t> least = enumerate_min_cuts(symmetric);
        const std::vector<std::int64_t> grid = bound::grid_cuts(symmetric, 1).bytes;
        const Budget budget;
        Meter meter(budget);
        const std::vector<std::int64_t> flow = bound::flow_cuts(symmetric, 1, meter);
        const std::vector<std::int64_t> cuts = bound::min_cut_bytes(symmetric, 1);
        for (std::size_t k = 0; k < least.size(); ++k) {
            CHECK(cuts[k] <= least[k]);
            if (!grid.empty()) CHECK(grid[k] <= least[k]);
            if (!flow.empty()) CHECK(flow[k] <= least[k]);
        }
    }
}

TEST_CASE("cubes in a corner and slabs have the least cut of a grid") {
    const CommGraph open =
        stencil(std::vector<GridAxis>(3, {8, false}), StencilShape::star, Bytes{5}).symmetric();
    const std::vector<std::int64_t> cuts = bound::grid_cuts(open, 1).bytes;
    CHECK(cuts[1] == 10 * 3);
    CHECK(cuts[27] == 10 * 3 * 9);
    CHECK(cuts[256] == 10 * 64);
    CHECK(cuts[512 - 27] == cuts[27]);
    const CommGraph periodic =
        stencil(std::vector<GridAxis>(3, {8, true}), StencilShape::star, Bytes{5}).symmetric();
    CHECK(bound::grid_cuts(periodic, 1).bytes[256] == 10 * 2 * 64);
}

TEST_CASE("no k ranks of a random pattern have a smaller cut than a flow between all ranks allows") {
    for (std::uint64_t seed = 0; seed < bound_case_count(50); ++seed) {
        CAPTURE(seed);
        Rng rng(seed);
        const CommGraph symmetric = random_pattern(2 + seed % 10, 20, rng).symmetric();
        const std::vector<std::int64_t> least = enumerate_min_cuts(symmetric);
        const Budget budget;
        Meter meter(budget);
        const std::vector<std::int64_t> flow = bound::flow_cuts(symmetric, 1, meter);
        for (std::size_t k = 0; k < flow.size(); ++k) CHECK(flow[k] <= least[k]);
    }
}

TEST_CASE("the flow between all ranks finds the least bisection of a periodic grid") {
    const CommGraph periodic =
        stencil(std::vector<GridAxis>(2, {6, true}), StencilShape::star, Bytes{5}).symmetric();
    const Budget budget;
    Meter meter(budget);
    CHECK(bound::flow_cuts(periodic, 1, meter)[18] == 10 * 2 * 6);
}

TEST_CASE("no placement has fewer hop-bytes than the sum over cuts" * doctest::test_suite("threads")) {
    for (std::uint64_t seed = 0; seed < bound_case_count(150); seed += machine_texts().size()) {
        for_each_bound_case(
            5,
            [](const CommGraph& graph, const Allocation& allocation, Rng& rng) {
                const CommGraph drawn =
                    rng.below(2) == 0 ? random_stencil(allocation.slot_count(), rng) : graph;
                const std::int64_t bound = bound::cut_sum_bound(BoundProblem(drawn, allocation));
                CHECK(bound <= min_hop_bytes_of_all(drawn, allocation));
            },
            seed);
    }
}

TEST_CASE("the sum over cuts is the optimum where cuts of the pattern and the machine coincide") {
    const auto check = [](const std::string& text, const CommGraph& graph, std::int64_t optimum) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        CHECK(bound::cut_sum_bound(BoundProblem(graph, allocation)) == optimum);
    };
    const CommGraph line = stencil(std::vector<GridAxis>{{8, false}}, StencilShape::star, Bytes{10});
    check("mesh:8", line, 2 * 10 * 7);
    const CommGraph ring = stencil(std::vector<GridAxis>{{9, true}}, StencilShape::star, Bytes{10});
    check("torus:9", ring, 2 * 10 * 9);
    const CommGraph plane = stencil(std::vector<GridAxis>(2, {4, true}), StencilShape::star, Bytes{10});
    // Of 32 pairs of ranks, 16 share a group.
    check("tree:4:4", plane, 2 * 10 * (16 * 2 + 16 * 4));
}

TEST_CASE("bounds grow with bytes, and do not depend on the numbering of ranks and slots") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        Rng rng(seed);
        const CommGraph graph = random_stencil(48, rng);
        const Machine machine = make_machine("torus:4x5x6");
        const Allocation whole = Allocation::whole(machine);
        std::vector<Slot> slots(whole.slots().begin(), whole.slots().end());
        rng.shuffle(std::span(slots));
        slots.resize(graph.rank_count() + rng.below(3));
        const auto allocation = Allocation::of_slots(machine, slots);
        const std::int64_t bound = bound::cut_sum_bound(BoundProblem(graph, allocation));
        std::vector<Rank> name = id_list<Rank>(graph.rank_count());
        rng.shuffle(std::span(name));
        std::vector<Rank> sources;
        std::vector<Rank> peers;
        std::vector<Bytes> bytes;
        std::vector<Bytes> doubled;
        for (const Rank u : ids<Rank>(graph.rank_count())) {
            for (const Edge edge : graph.sends(u)) {
                sources.push_back(name[u.value]);
                peers.push_back(name[edge.peer.value]);
                bytes.push_back(edge.bytes);
                doubled.emplace_back(2 * edge.bytes.value);
            }
        }
        rng.shuffle(std::span(slots));
        const auto reordered = Allocation::of_slots(machine, slots);
        const std::size_t ranks = graph.rank_count();
        CHECK(bound::cut_sum_bound(
                  BoundProblem(CommGraph::from_edges(ranks, sources, peers, bytes), reordered)) == bound);
        // Not twice as high, because every cut is rounded up.
        CHECK(bound::cut_sum_bound(
                  BoundProblem(CommGraph::from_edges(ranks, sources, peers, doubled), reordered)) >= bound);
    }
}
