// SPDX-License-Identifier: BSD-3-Clause
// Bisection: costs equal the definition, capacities hold, small graphs are solved optimally.
#include <doctest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "topoloom/partition/bisection.hpp"
#include "topoloom/partition/exhaustive_bisection.hpp"
#include "weighted_graphs.hpp"

using namespace topoloom;

namespace {

std::int64_t compute_bisection_cost(const partition::WeightedGraph& graph,
                                    const std::vector<std::int64_t>& bias, const std::vector<char>& side) {
    std::int64_t cost = 0;
    for (const Vertex v : graph.vertices()) {
        if (!bias.empty() && side[v.value] == 1) cost += bias[v.value];
        for (std::uint32_t i = 0; i < graph.degree(v); ++i) {
            const Vertex u = graph.peers(v)[i];
            if (u < v && side[u.value] != side[v.value]) cost += graph.weights(v)[i];
        }
    }
    return cost;
}

std::int64_t find_least_cost(const partition::WeightedGraph& graph, const std::vector<std::int64_t>& bias,
                             const std::array<std::int64_t, 2>& capacity) {
    std::int64_t best = std::numeric_limits<std::int64_t>::max();
    for (std::uint32_t bits = 0; bits < 1U << graph.size(); ++bits) {
        std::vector<char> side(graph.size());
        std::array<std::int64_t, 2> mass{0, 0};
        for (std::uint32_t v = 0; v < graph.size(); ++v) {
            side[v] = static_cast<char>(bits >> v & 1);
            mass[bits >> v & 1] += graph.mass[v];
        }
        if (mass[0] <= capacity[0] && mass[1] <= capacity[1])
            best = std::min(best, compute_bisection_cost(graph, bias, side));
    }
    return best;
}

std::array<std::int64_t, 2> sum_side_masses(const partition::WeightedGraph& graph,
                                            const std::vector<char>& side) {
    std::array<std::int64_t, 2> mass{0, 0};
    for (std::uint32_t v = 0; v < graph.size(); ++v) mass[side[v] == 0 ? 0 : 1] += graph.mass[v];
    return mass;
}

}  // namespace

TEST_CASE("vertices of mass 1 fill the capacities exactly, and the cost equals its definition") {
    Rng rng(1, 0);
    for (std::uint32_t round = 0; round < 60; ++round) {
        CAPTURE(round);
        const std::uint32_t n = 1 + rng.below(300);
        const partition::WeightedGraph graph = random_graph(n, 3, 9, 1, rng);
        std::vector<std::int64_t> bias;
        if (round % 2 == 1) {
            for (std::uint32_t v = 0; v < n; ++v)
                bias.push_back(static_cast<std::int64_t>(rng.below(21)) - 10);
        }
        const std::int64_t left = rng.below(n + 1);
        const partition::Bisection halves =
            partition::bisect(graph, bias, {left, n - left}, {.cycles = round % 3}, rng);
        CHECK(halves.excess == 0);
        CHECK(sum_side_masses(graph, halves.side) == std::array<std::int64_t, 2>{left, n - left});
        CHECK(halves.cost == compute_bisection_cost(graph, bias, halves.side));
    }
}

TEST_CASE("small graphs are nearly always cut optimally") {
    Rng rng(2, 0);
    int missed = 0;
    for (std::uint32_t round = 0; round < 60; ++round) {
        const partition::WeightedGraph graph = random_graph(10, 2, 5, 1, rng);
        std::vector<std::int64_t> bias;
        for (std::uint32_t v = 0; v < graph.size(); ++v)
            bias.push_back(static_cast<std::int64_t>(rng.below(7)) - 3);
        const std::array<std::int64_t, 2> capacity{5 + round % 3, 5 + round % 2};
        const std::int64_t best = find_least_cost(graph, bias, capacity);
        const partition::Bisection halves = partition::bisect(graph, bias, capacity, {.starts = 8}, rng);
        CHECK(halves.cost >= best);
        missed += halves.cost > best ? 1 : 0;
    }
    CHECK(missed <= 12);
}

TEST_CASE("without edges, the bias of a vertex determines its side") {
    partition::WeightedGraph graph;
    graph.first.assign(41, 0);
    graph.mass.assign(40, 1);
    std::vector<std::int64_t> bias(40);
    for (std::size_t v = 0; v < 40; ++v) bias[v] = v < 20 ? 5 : -5;
    const partition::Bisection halves = partition::bisect(graph, bias, {20, 20}, {}, Rng(1));
    CHECK(halves.cost == -100);
}

TEST_CASE("a grid is cut along a straight line") {
    const partition::WeightedGraph graph = grid_graph(16, 8);
    CHECK(partition::bisect(graph, {}, {64, 64}, {.starts = 64, .cycles = 4}, Rng(3)).cost == 8);
}

TEST_CASE("stars, cliques, isolated vertices and edges of weight zero are split exactly") {
    for (const partition::WeightedGraph& graph :
         {star_graph(5000), clique_graph(300), random_graph(500, 0, 1, 1, Rng(1)),
          random_graph(500, 3, 0, 1, Rng(2))}) {
        CAPTURE(graph.size());
        const std::int64_t left = graph.size() / 2;
        const partition::Bisection halves =
            partition::bisect(graph, {}, {left, graph.size() - left}, {}, Rng(5));
        CHECK(halves.excess == 0);
        CHECK(halves.cost == compute_bisection_cost(graph, {}, halves.side));
    }
}

TEST_CASE("vertices of different mass respect the capacities if these leave room for the heaviest vertex") {
    Rng rng(4, 0);
    for (std::uint32_t round = 0; round < 20; ++round) {
        const partition::WeightedGraph graph = random_graph(200, 3, 9, 10, rng);
        const std::int64_t mass = std::accumulate(graph.mass.begin(), graph.mass.end(), std::int64_t{0});
        const partition::Bisection halves =
            partition::bisect(graph, {}, {mass / 3 + 10, mass - mass / 3 + 10}, {}, rng);
        CHECK(halves.excess == 0);
        CHECK(sum_side_masses(graph, halves.side)[0] <= mass / 3 + 10);
    }
}

TEST_CASE("exhaustive bisection finds the least cost that capacities allow") {
    Rng rng(4, 0);
    for (std::uint32_t round = 0; round < 100; ++round) {
        CAPTURE(round);
        const std::uint32_t n = 1 + rng.below(partition::max_exhaustive_vertices);
        const partition::WeightedGraph graph = random_graph(n, 2, 9, 3, rng);
        std::vector<std::int64_t> bias;
        for (std::uint32_t v = 0; v < n; ++v) bias.push_back(static_cast<std::int64_t>(rng.below(19)) - 9);
        const std::int64_t mass = std::accumulate(graph.mass.begin(), graph.mass.end(), std::int64_t{0});
        const std::array<std::int64_t, 2> capacity{mass, mass / 2};
        const auto found = partition::bisect_exhaustively(graph, bias, capacity, std::vector<char>(n, 1));
        CHECK(found.excess == 0);
        CHECK(found.cost == compute_bisection_cost(graph, bias, found.side));
        CHECK(found.cost == find_least_cost(graph, bias, capacity));
    }
}
