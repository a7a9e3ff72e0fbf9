// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/partition/weighted_graph.hpp"

#include <numeric>

#include "topoloom/base/parallel.hpp"

namespace topoloom::partition {

namespace {

/// Builds rows on all cores. visit(v, add) must call add(peer, weight) for each edge of v. It is called twice
/// per vertex and must report the same edges in the same order.
template <class Visit>
void fill_rows(WeightedGraph& graph, std::size_t vertices, const Visit& visit, int threads) {
    const Chunks chunks(vertices, 8192);
    const auto each = [&](const auto& body) {
        parallel_for(chunks.size(), threads, [&](std::size_t c, int) {
            for (std::size_t v = chunks[c].begin; v < chunks[c].end; ++v) body(Vertex{v});
        });
    };
    graph.first.assign(vertices + 1, 0);
    each([&](Vertex v) { visit(v, [&](Vertex, std::int64_t) { ++graph.first[v.value + 1]; }); });
    std::partial_sum(graph.first.begin(), graph.first.end(), graph.first.begin());
    graph.peer.resize(graph.first.back());
    graph.weight.resize(graph.first.back());
    each([&](Vertex v) {
        std::uint32_t at = graph.first[v.value];
        visit(v, [&](Vertex peer, std::int64_t weight) {
            graph.peer[at] = peer;
            graph.weight[at++] = weight;
        });
    });
}

}  // namespace

WeightedGraph make_weighted_graph(const CommGraph& symmetric, std::span<const std::int64_t> mass, int shift,
                                  int threads) {
    WeightedGraph graph;
    graph.mass.assign(mass.begin(), mass.end());
    const auto visit = [&](Vertex v, const auto& add) {
        const auto peers = symmetric.peers(Rank{v.value});
        const auto bytes = symmetric.bytes(Rank{v.value});
        for (std::size_t e = 0; e < peers.size(); ++e) {
            const std::int64_t weight = bytes[e].value >> shift;
            if (weight != 0) add(Vertex{peers[e].value}, weight);
        }
    };
    fill_rows(graph, mass.size(), visit, threads);
    return graph;
}

WeightedGraph renumber_graph(const WeightedGraph& graph, std::span<const Vertex> order, int threads) {
    BigVector<Vertex> number(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) number[order[i].value] = Vertex{i};
    WeightedGraph result;
    result.mass.resize(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) result.mass[i] = graph.mass[order[i].value];
    const auto visit = [&](Vertex v, const auto& add) {
        const auto peers = graph.peers(order[v.value]);
        const auto weights = graph.weights(order[v.value]);
        for (std::size_t e = 0; e < peers.size(); ++e) add(number[peers[e].value], weights[e]);
    };
    fill_rows(result, order.size(), visit, threads);
    return result;
}

}  // namespace topoloom::partition
