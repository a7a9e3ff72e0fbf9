// SPDX-License-Identifier: BSD-3-Clause
// Binary labeling compared with enumeration.
#include <doctest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/partition/binary_labeling.hpp"

using namespace topoloom;

namespace {

struct LabelingProblem {
    partition::WeightedGraph graph;
    std::vector<std::int64_t> bias;

    [[nodiscard]] std::int64_t cost(const std::vector<char>& choice) const {
        std::int64_t twice = 0;
        std::int64_t sum = 0;
        for (const Vertex v : graph.vertices()) {
            if (choice[v.value] != 0) sum += bias[v.value];
            for (std::size_t i = 0; i < graph.peers(v).size(); ++i)
                twice += choice[graph.peers(v)[i].value] != choice[v.value] ? graph.weights(v)[i] : 0;
        }
        return sum + twice / 2;
    }
};

/// A random problem: each pair of vertices has an edge with probability 1/2, and some labels are fixed.
LabelingProblem make_random_problem(std::uint32_t size, std::uint64_t seed) {
    Rng rng(seed);
    std::vector<std::vector<std::int64_t>> weight(size, std::vector<std::int64_t>(size, 0));
    for (std::uint32_t a = 0; a < size; ++a) {
        for (std::uint32_t b = 0; b < a; ++b)
            weight[a][b] = weight[b][a] = rng.below(2) == 0 ? 0 : std::int64_t{rng.below(21)} - 10;
    }
    LabelingProblem c;
    for (std::uint32_t a = 0; a < size; ++a) {
        for (std::uint32_t b = 0; b < size; ++b) {
            if (weight[a][b] == 0) continue;
            c.graph.peer.emplace_back(b);
            c.graph.weight.push_back(weight[a][b]);
        }
        c.graph.first.push_back(static_cast<std::uint32_t>(c.graph.peer.size()));
        c.graph.mass.push_back(rng.below(5) == 0 ? 0 : 1);
        c.bias.push_back(std::int64_t{rng.below(21)} - 10);
    }
    return c;
}

}  // namespace

TEST_CASE("labelings are never worse than the start, and mostly optimal") {
    int best_found = 0;
    constexpr int cases = 200;
    for (std::uint64_t seed = 0; seed < cases; ++seed) {
        const LabelingProblem c = make_random_problem(1 + static_cast<std::uint32_t>(seed % 9), seed);
        const std::vector<char> chosen = partition::BinaryLabeling(c.graph, c.bias).run();
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        std::vector<char> all(c.graph.size());
        for (std::uint32_t bits = 0; bits < 1U << c.graph.size(); ++bits) {
            bool allowed = true;
            for (std::uint32_t v = 0; v < c.graph.size(); ++v) {
                all[v] = static_cast<char>(bits >> v & 1U);
                allowed = allowed && (all[v] == 0 || c.graph.mass[v] > 0);
            }
            if (allowed) least = std::min(least, c.cost(all));
        }
        for (std::uint32_t v = 0; v < c.graph.size(); ++v) CHECK((chosen[v] == 0 || c.graph.mass[v] > 0));
        CHECK(c.cost(chosen) <= 0);
        CHECK(c.cost(chosen) >= least);
        best_found += c.cost(chosen) == least ? 1 : 0;
    }
    CHECK(best_found > cases * 9 / 10);
}

TEST_CASE("coupled vertices change their labels together if no single change is better") {
    // A chain of vertices costs less only if all of them get label 1. Every single change costs more.
    constexpr std::uint32_t size = 30;
    LabelingProblem c;
    for (std::uint32_t v = 0; v < size; ++v) {
        for (const std::uint32_t u : {v - 1, v + 1}) {
            if (u >= size) continue;
            c.graph.peer.emplace_back(u);
            c.graph.weight.push_back(5);
        }
        c.graph.first.push_back(static_cast<std::uint32_t>(c.graph.peer.size()));
        c.graph.mass.push_back(1);
        c.bias.push_back(-1);
    }
    CHECK(partition::BinaryLabeling(c.graph, c.bias).run() == std::vector<char>(size, 1));
}
