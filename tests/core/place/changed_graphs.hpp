// SPDX-License-Identifier: BSD-3-Clause
// Changes graphs for tests of recognition: permutes ranks, changes bytes, adds edges.
#pragma once

#include <functional>
#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// The same graph with ranks in random order.
inline CommGraph renumber_ranks(const CommGraph& graph, std::uint64_t seed) {
    std::vector<Rank> to;
    for (const Rank u : ids<Rank>(graph.rank_count())) to.push_back(u);
    Rng(seed, 77).shuffle(std::span<Rank>(to));
    std::vector<Rank> sources;
    std::vector<Rank> peers;
    std::vector<Bytes> bytes;
    for (const Rank u : ids<Rank>(graph.rank_count())) {
        for (const Edge edge : graph.sends(u)) {
            sources.push_back(to[u.value]);
            peers.push_back(to[edge.peer.value]);
            bytes.push_back(edge.bytes);
        }
    }
    return CommGraph::from_edges(graph.rank_count(), sources, peers, bytes);
}

/// The graph with bytes replaced by change(u, v, bytes); a negative result removes the edge.
inline CommGraph replace_bytes(const CommGraph& graph,
                               const std::function<std::int64_t(Rank, Rank, std::int64_t)>& change) {
    return CommGraph::from_rows(graph.rank_count(), [&](Rank u, const auto& add) {
        for (const Edge edge : graph.sends(u)) {
            const std::int64_t bytes = change(u, edge.peer, edge.bytes.value);
            if (bytes >= 0) add(Edge{edge.peer, Bytes{bytes}});
        }
    });
}

/// The graph with one more pair of ranks that communicate, in both directions.
inline CommGraph add_bidirectional_edge(const CommGraph& graph, Rank a, Rank b, Bytes bytes) {
    return CommGraph::from_rows(graph.rank_count(), [&](Rank u, const auto& add) {
        for (const Edge edge : graph.sends(u)) add(edge);
        if (u == a) add(Edge{b, bytes});
        if (u == b) add(Edge{a, bytes});
    });
}

}  // namespace topoloom
