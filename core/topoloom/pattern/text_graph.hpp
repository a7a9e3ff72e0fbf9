// SPDX-License-Identifier: BSD-3-Clause
// What the text readers have in common.
#pragma once

#include <cstddef>
#include <cstdint>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// More ranks than this are taken for a damaged file: a header or an id alone must not cost gigabytes.
inline constexpr std::int64_t most_ranks_read = std::int64_t{1} << 26;

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

}  // namespace topoloom
