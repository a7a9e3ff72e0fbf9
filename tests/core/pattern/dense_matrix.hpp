// SPDX-License-Identifier: BSD-3-Clause
// Reference: a communication graph as a dense matrix.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "topoloom/pattern/comm_graph.hpp"

struct Cell {
    std::int64_t bytes = 0;
    std::int64_t messages = 0;
    friend bool operator==(const Cell&, const Cell&) = default;
};

/// dense[u][v] is the number of bytes from u to v; the diagonal counts self-messages.
using Dense = std::vector<std::vector<Cell>>;

inline Dense empty_matrix(std::size_t rank_count) { return Dense(rank_count, std::vector<Cell>(rank_count)); }

inline Dense to_dense_matrix(const topoloom::CommGraph& graph) {
    Dense matrix = empty_matrix(graph.rank_count());
    for (const topoloom::Rank u : topoloom::ids<topoloom::Rank>(graph.rank_count())) {
        matrix[u.value][u.value] = {graph.self_bytes(u).value, graph.self_messages(u)};
        for (const topoloom::Edge edge : graph.sends(u)) {
            matrix[u.value][edge.peer.value] = {edge.bytes.value, edge.messages};
        }
    }
    return matrix;
}

inline void add(Dense& matrix, std::size_t u, std::size_t v, std::int64_t bytes, std::int64_t messages = 1) {
    matrix[u][v].bytes += bytes;
    matrix[u][v].messages += messages;
}

inline Dense transpose_matrix(const Dense& matrix) {
    Dense result = matrix;
    for (std::size_t u = 0; u < matrix.size(); ++u) {
        for (std::size_t v = 0; v < matrix.size(); ++v) result[v][u] = matrix[u][v];
    }
    return result;
}
