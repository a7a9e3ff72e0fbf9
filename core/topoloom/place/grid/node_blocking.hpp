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

/// The nodes that block order fills, and the slots that it uses on each node, in ascending order.
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
    Extents tile;  // the shape of every node's piece; empty: shapes differ
    std::int64_t inter_node_bytes;
};

/// Cell orders with the fewest inter-node bytes, by node_tile.hpp and BoxBlocking; at most a few. Tries fewer
/// orders if the graph has more edges. O(edges) per order.
[[nodiscard]] std::vector<NodeBlocking> find_best_blockings(const Problem& problem, const RankGrid& grid,
                                                            const FilledNodes& nodes, Meter& meter);

/// The grid, weighted with the mean bytes that two neighbors along an axis exchange, in both directions
/// together.
[[nodiscard]] WeightedGrid weigh_grid(const RankGrid& grid);

/// Bytes of all messages between ranks on different nodes.
[[nodiscard]] std::int64_t inter_node_bytes(const CommGraph& graph, std::span<const Node> node_of_rank,
                                            int threads);

}  // namespace topoloom::grid
