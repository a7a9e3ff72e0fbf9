// SPDX-License-Identifier: BSD-3-Clause
// Assigns cells of a rank grid to nodes with the fewest inter-node bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/budget.hpp"
#include "topoloom/place/grid/node_tile.hpp"
#include "topoloom/place/state/rank_grid.hpp"

namespace topoloom::grid {

/// Above this number of ranks only O(ranks) methods are tried.
inline constexpr std::size_t max_ranks_superlinear = 20'000;

/// The nodes that block order fills, and the slots that it takes on each, in the order of their numbers.
struct FilledNodes {
    explicit FilledNodes(const Problem& problem);
    [[nodiscard]] bool has_equal_sizes() const;

    std::vector<Node> nodes;
    std::vector<std::vector<Slot>> slots;
    std::vector<std::uint32_t> sizes;
};

/// Cells in the order in which they fill the nodes.
struct NodeBlocking {
    std::vector<GridCell> cells;
    Extents tile;  // where each node takes one such; else empty
    std::int64_t inter_node_bytes;
};

/// Orders that fill the nodes, by node_tile.hpp and BoxBlocking, with the fewest inter-node bytes; at most a few. The
/// more edges, the fewer are tried. O(edges) each.
[[nodiscard]] std::vector<NodeBlocking> best_blockings(const Problem& problem, const RankGrid& grid,
                                                       const FilledNodes& nodes, Meter& meter);

/// Mean bytes that two neighbors along an axis exchange, both directions together.
[[nodiscard]] WeightedGrid weighted(const RankGrid& grid);

/// Bytes of all messages between ranks on different nodes.
[[nodiscard]] std::int64_t inter_node_bytes(const CommGraph& graph, std::span<const Node> node_of_rank,
                                            int threads);

}  // namespace topoloom::grid
