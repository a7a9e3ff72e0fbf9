// SPDX-License-Identifier: BSD-3-Clause
// Coarsening preserves weights and labels, and shrinks every kind of graph.
#include "topoloom/partition/coarsening.hpp"

#include <doctest.h>

#include <numeric>

#include "weighted_graphs.hpp"

using namespace topoloom;

namespace {

/// Reference: contracts the clusters vertex by vertex and edge by edge.
partition::WeightedGraph contract_clusters(const partition::WeightedGraph& fine,
                                           const std::vector<Vertex>& coarse_of, std::uint32_t clusters) {
    std::vector<std::int64_t> mass(clusters, 0);
    EdgeWeights edges;
    for (const Vertex v : fine.vertices()) {
        const std::uint32_t a = coarse_of[v.value].value;
        mass[a] += fine.mass[v.value];
        for (std::uint32_t i = 0; i < fine.degree(v); ++i) {
            const std::uint32_t b = coarse_of[fine.peers(v)[i].value].value;
            if (a < b) edges[{a, b}] += fine.weights(v)[i];
        }
    }
    return weighted_graph(mass, edges);
}

std::map<std::uint32_t, std::int64_t> edges_of_vertex(const partition::WeightedGraph& graph, Vertex v) {
    std::map<std::uint32_t, std::int64_t> row;
    for (std::uint32_t i = 0; i < graph.degree(v); ++i) row[graph.peers(v)[i].value] += graph.weights(v)[i];
    return row;
}

}  // namespace

TEST_CASE("the coarse graph has the masses and edges of its clusters") {
    Rng rng(1, 0);
    for (std::uint32_t round = 0; round < 30; ++round) {
        const partition::WeightedGraph fine = random_graph(1 + rng.below(200), round % 6, 9, 4, rng);
        const std::int64_t max_mass = 4 + rng.below(20);
        const partition::Coarsening step = partition::coarsen(fine, max_mass, rng);
        const partition::WeightedGraph wanted = contract_clusters(fine, step.coarse_of, step.graph.size());
        REQUIRE(step.graph.size() == wanted.size());
        for (const Vertex c : wanted.vertices()) {
            CHECK(step.graph.mass[c.value] == wanted.mass[c.value]);
            CHECK(step.graph.mass[c.value] <= max_mass);
            CHECK(edges_of_vertex(step.graph, c) == edges_of_vertex(wanted, c));
        }
    }
}

TEST_CASE("vertices with different labels are never joined") {
    Rng rng(2, 0);
    for (std::uint32_t round = 0; round < 30; ++round) {
        const partition::WeightedGraph fine = random_graph(200, 4, 9, 1, rng);
        std::vector<Part> label;
        for (std::uint32_t v = 0; v < fine.size(); ++v) label.emplace_back(rng.below(5));
        const partition::Coarsening step = partition::coarsen(fine, 50, rng, label);
        std::vector<Part> label_of(step.graph.size(), Part::none);
        for (std::uint32_t v = 0; v < fine.size(); ++v) {
            Part& mine = label_of[step.coarse_of[v].value];
            if (mine == Part::none) mine = label[v];
            CHECK(mine == label[v]);
        }
    }
}

TEST_CASE("grids, stars, cliques and isolated vertices shrink by at least a third") {
    for (const partition::WeightedGraph& fine :
         {grid_graph(20, 20), star_graph(1000), clique_graph(200), random_graph(400, 0, 1, 1, Rng(1))}) {
        CHECK(3 * partition::coarsen(fine, 10, Rng(4)).graph.size() <= 2 * fine.size());
    }
}

TEST_CASE("coarsening in windows is equal for any number of threads, and keeps the weight between clusters" *
          doctest::test_suite("threads")) {
    const partition::WeightedGraph graph = random_graph(60'000, 6, 9, 3, Rng(3));
    const partition::Coarsening one = partition::coarsen(graph, 12, Rng(4), {}, 512, 1);
    const partition::Coarsening three = partition::coarsen(graph, 12, Rng(4), {}, 512, 3);
    CHECK(one.coarse_of == three.coarse_of);
    CHECK(one.graph.first == three.graph.first);
    CHECK(one.graph.peer == three.graph.peer);
    CHECK(one.graph.weight == three.graph.weight);
    REQUIRE(one.graph.size() > 1U << 14);  // large enough to be built in several windows
    std::int64_t between = 0;
    for (const Vertex v : graph.vertices()) {
        for (std::size_t e = 0; e < graph.degree(v); ++e)
            between +=
                one.coarse_of[v.value] != one.coarse_of[graph.peers(v)[e].value] ? graph.weights(v)[e] : 0;
    }
    CHECK(std::accumulate(one.graph.weight.begin(), one.graph.weight.end(), std::int64_t{0}) == between);
}
