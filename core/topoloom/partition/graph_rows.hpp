// SPDX-License-Identifier: BSD-3-Clause
// Consecutive rows of a graph, which threads build independently.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "topoloom/partition/weighted_graph.hpp"

namespace topoloom::partition {

/// Rows in compressed sparse row form. end[i] is the number of edges of the rows up to row i.
struct GraphRows {
    BigVector<std::uint32_t> end;
    BigVector<Vertex> peer;
    BigVector<std::int64_t> weight;
};

/// Appends rows to a graph without edges; clears `rows`. Does not copy them if there is only one element.
inline void append_rows(WeightedGraph& graph, std::span<GraphRows> rows) {
    if (rows.size() == 1) {
        graph.first.insert(graph.first.end(), rows[0].end.begin(), rows[0].end.end());
        graph.peer = std::move(rows[0].peer);
        graph.weight = std::move(rows[0].weight);
        return;
    }
    std::size_t edges = 0;
    for (const GraphRows& some : rows) edges += some.peer.size();
    graph.first.reserve(graph.size() + 1);
    graph.peer.reserve(edges);
    graph.weight.reserve(edges);
    for (GraphRows& some : rows) {
        const auto before = static_cast<std::uint32_t>(graph.peer.size());
        for (const std::uint32_t end : some.end) graph.first.push_back(before + end);
        graph.peer.insert(graph.peer.end(), some.peer.begin(), some.peer.end());
        graph.weight.insert(graph.weight.end(), some.weight.begin(), some.weight.end());
        some = {};
    }
}

}  // namespace topoloom::partition
