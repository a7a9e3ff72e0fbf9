// SPDX-License-Identifier: BSD-3-Clause
// The edge list that text readers fill.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// Upper limit on ranks in a text of `size` bytes, so that a wrong header or id cannot fill memory: every rank takes
/// memory, also without edges.
[[nodiscard]] constexpr std::int64_t max_ranks_read(std::size_t size) {
    constexpr std::size_t few = std::size_t{1} << 18;
    return static_cast<std::int64_t>(std::min(few + size, std::size_t{1} << 26));
}

/// Edges in file order; CommGraph::from_edges sums duplicates.
struct EdgeList {
    BigVector<Rank> sources;
    BigVector<Rank> peers;
    BigVector<Bytes> bytes;

    void reserve(std::size_t count) {
        sources.reserve(count);
        peers.reserve(count);
        bytes.reserve(count);
    }
    void add(Rank source, Rank peer, Bytes amount) {
        sources.push_back(source);
        peers.push_back(peer);
        bytes.push_back(amount);
    }
};

/// Builds a graph with one message per edge. Adopts the arrays if edges are sorted by source.
[[nodiscard]] inline CommGraph make_graph(std::size_t rank_count, EdgeList edges) {
    if (!std::is_sorted(edges.sources.begin(), edges.sources.end())) {
        return CommGraph::from_edges(rank_count, edges.sources, edges.peers, edges.bytes);
    }
    CommRows rows;
    rows.first.assign(rank_count + 1, 0);
    for (const Rank u : edges.sources) ++rows.first[u.value + 1];
    std::partial_sum(rows.first.begin(), rows.first.end(), rows.first.begin());
    rows.peers = std::move(edges.peers);
    rows.bytes = std::move(edges.bytes);
    return CommGraph::from_csr(std::move(rows));
}

}  // namespace topoloom
