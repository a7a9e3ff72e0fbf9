// SPDX-License-Identifier: BSD-3-Clause
// Minimum cuts between two parts: the flow equals the cut, and moving the border between parts respects
// capacities.
#include "topoloom/place/shared/pair_flow.hpp"

#include <doctest.h>

#include <cstdlib>
#include <limits>

#include "partition/weighted_graphs.hpp"
#include "topoloom/partition/max_flow.hpp"

using namespace topoloom;

namespace {

/// A geometry of points along a line.
struct LineSpace {
    using Point = std::int64_t;
    [[nodiscard]] static std::int64_t distance(Point a, Point b) { return std::abs(a - b); }
    [[nodiscard]] static std::uint32_t port_distance(Point) { return 0; }
};

const LineSpace space;

std::int64_t hop_weight(const partition::WeightedGraph& graph, const std::vector<std::int64_t>& points,
                        const std::vector<Part>& part) {
    std::int64_t twice = 0;
    for (const Vertex v : graph.vertices()) {
        for (std::uint32_t i = 0; i < graph.degree(v); ++i)
            twice += graph.weights(v)[i] *
                     std::abs(points[part[v.value].value] - points[part[graph.peers(v)[i].value].value]);
    }
    return twice / 2;
}

std::vector<std::int64_t> sum_part_loads(const partition::WeightedGraph& graph, const std::vector<Part>& part,
                                         std::size_t parts) {
    std::vector<std::int64_t> load(parts, 0);
    for (std::uint32_t v = 0; v < graph.size(); ++v) load[part[v].value] += graph.mass[v];
    return load;
}

}  // namespace

TEST_CASE("a maximum flow equals the minimum cut, and its sides form such a cut") {
    Rng rng(1, 0);
    partition::FlowNetwork network;
    for (int round = 0; round < 200; ++round) {
        CAPTURE(round);
        const std::uint32_t n = 1 + rng.below(9);
        EdgeWeights edges;
        for (std::uint32_t i = 0; i < 2 * n; ++i) {
            const std::uint32_t u = rng.below(n);
            const std::uint32_t v = rng.below(n);
            if (u < v) edges[{u, v}] = 1 + rng.below(6);
        }
        std::vector<std::int64_t> terminal;
        for (std::uint32_t v = 0; v < n; ++v)
            terminal.push_back(static_cast<std::int64_t>(rng.below(15)) - 7);
        network.reset(n);
        for (const auto& [ends, weight] : edges)
            network.add_edge(Vertex{ends.first}, Vertex{ends.second}, weight);
        for (std::uint32_t v = 0; v < n; ++v) network.add_terminal_cost(Vertex{v}, terminal[v]);
        const auto value = [&](std::uint32_t sink_side) {
            std::int64_t sum = 0;
            for (std::uint32_t v = 0; v < n; ++v) sum += (sink_side >> v & 1) != 0 ? terminal[v] : 0;
            for (const auto& [ends, weight] : edges) {
                if ((sink_side >> ends.first & 1) != (sink_side >> ends.second & 1)) sum += weight;
            }
            return sum;
        };
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        for (std::uint32_t sink_side = 0; sink_side < 1U << n; ++sink_side)
            least = std::min(least, value(sink_side));
        CHECK(network.solve() == least);
        const std::vector<signed char> sides = network.sides();
        std::uint32_t free_to_sink = 0;
        std::uint32_t free_to_source = 0;
        for (std::uint32_t v = 0; v < n; ++v) {
            free_to_sink |= sides[v] <= 0 ? 1U << v : 0U;
            free_to_source |= sides[v] < 0 ? 1U << v : 0U;
        }
        CHECK(value(free_to_sink) == least);
        CHECK(value(free_to_source) == least);
    }
}

TEST_CASE("moving borders of parts lowers hop-bytes by the reported gain and respects capacities") {
    Rng rng(2, 0);
    for (int round = 0; round < 100; ++round) {
        CAPTURE(round);
        const partition::WeightedGraph graph = random_graph(5 + rng.below(120), 4, 5, 1 + rng.below(3), rng);
        const std::vector<std::int64_t> points{0, 1, 3, 10};
        std::vector<Part> part;
        for (std::uint32_t v = 0; v < graph.size(); ++v) part.emplace_back(rng.below(4));
        std::vector<std::int64_t> capacity = sum_part_loads(graph, part, 4);
        for (std::int64_t& c : capacity) c += rng.below(20);
        const std::int64_t before = hop_weight(graph, points, part);
        shared::PairFlow<LineSpace> flow(space, graph, points, capacity, part);
        const std::int64_t gained = flow.round(rng) + flow.round(rng);
        CHECK(gained >= 0);
        CHECK(hop_weight(graph, points, part) == before - gained);
        const std::vector<std::int64_t> load = sum_part_loads(graph, part, 4);
        for (std::size_t p = 0; p < 4; ++p) CHECK(load[p] <= capacity[p]);
    }
}

TEST_CASE("with unlimited capacity one cut divides two parts optimally") {
    Rng rng(3, 0);
    for (int round = 0; round < 50; ++round) {
        CAPTURE(round);
        // Vertices 0 .. 5 form a chain and are in parts 0 and 1. Some have edges to 6 .. 8, which stay in
        // part 2, because it is full.
        EdgeWeights edges;
        for (std::uint32_t v = 0; v + 1 < 6; ++v) edges[{v, v + 1}] = 1 + rng.below(4);
        for (int i = 0; i < 8; ++i) edges[{rng.below(6), 6 + rng.below(3)}] = rng.below(5);
        const partition::WeightedGraph graph = weighted_graph({1, 1, 1, 1, 1, 1, 100, 100, 100}, edges);
        const std::vector<std::int64_t> points{2, 0, 3};
        const std::vector<std::int64_t> capacity{9, 9, 300};
        std::vector<Part> part;
        for (std::uint32_t v = 0; v < graph.size(); ++v) part.emplace_back(v < 6 ? v % 2 : 2);
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        for (std::uint32_t bits = 0; bits < 64; ++bits) {
            std::vector<Part> other = part;
            for (std::uint32_t v = 0; v < 6; ++v) other[v] = Part{bits >> v & 1};
            least = std::min(least, hop_weight(graph, points, other));
        }
        shared::PairFlow<LineSpace> flow(space, graph, points, capacity, part);
        flow.round(rng);
        CHECK(hop_weight(graph, points, part) == least);
    }
}
