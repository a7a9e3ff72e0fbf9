// SPDX-License-Identifier: BSD-3-Clause
// What the text readers have in common.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// More ranks than this are taken for a damaged file: a header or an id alone must not cost gigabytes.
inline constexpr std::int64_t max_ranks_read = std::int64_t{1} << 26;

/// Edges as a text lists them, to be summed by CommGraph::from_edges.
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

/// The graph of these edges, one message each. Takes their arrays over where they come row by row.
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
