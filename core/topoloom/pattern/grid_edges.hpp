// SPDX-License-Identifier: BSD-3-Clause
// The edges of a pattern that join ranks on a line of a grid.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/extents.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// Calls visit(axis, step, bytes) for each edge whose ranks are in cells that differ on one axis only;
/// `step` is the difference of their positions on it. Cells are numbered row-major, and `rank_of_cell`
/// lists all ranks.
template <class Visit>
void visit_edges_along_axes(const CommGraph& graph, const Extents& extents,
                            std::span<const Rank> rank_of_cell, const Visit& visit) {
    std::vector<std::uint32_t> cell_of_rank(rank_of_cell.size());
    for (std::uint32_t cell = 0; cell < cell_of_rank.size(); ++cell)
        cell_of_rank[rank_of_cell[cell].value] = cell;
    for (const Rank u : ids<Rank>(cell_of_rank.size())) {
        for (const Edge edge : graph.sends(u)) {
            std::uint32_t from = cell_of_rank[u.value];
            std::uint32_t to = cell_of_rank[edge.peer.value];
            std::size_t differing = 0;
            std::size_t axis = 0;
            std::uint32_t step = 0;
            for (std::size_t i = extents.size(); i-- > 0;) {
                const std::uint32_t x = from % extents[i];
                const std::uint32_t y = to % extents[i];
                from /= extents[i];
                to /= extents[i];
                if (x == y) continue;
                ++differing;
                axis = i;
                step = x < y ? y - x : x - y;
            }
            if (differing == 1) visit(axis, step, edge.bytes);
        }
    }
}

}  // namespace topoloom
