// SPDX-License-Identifier: BSD-3-Clause
// Assigns cells of a rank grid to nodes with the fewest inter-node bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/budget.hpp"
#include "topoloom/place/grid/cell_orders.hpp"
#include "topoloom/place/state/rank_grid.hpp"

namespace topoloom::grid {

/// Above this number of ranks, only methods that take O(ranks) are tried.
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
    Extents tile;  // the shape of every node's piece; empty if shapes differ
    std::int64_t inter_node_bytes;
};

/// The cell orders of cell_orders.hpp and BoxBlocking that have the fewest inter-node bytes; at most a few.
/// The more edges the graph has, the fewer orders are tried. O(edges) per order.
[[nodiscard]] std::vector<NodeBlocking> find_best_blockings(const Problem& problem, const RankGrid& grid,
                                                            const FilledNodes& nodes, Meter& meter);

/// The grid; the weight of an axis is the mean number of bytes that two neighbors along it exchange, in both
/// directions together.
[[nodiscard]] WeightedGrid weigh_grid(const RankGrid& grid);

/// Bytes of all messages between ranks on different nodes.
[[nodiscard]] std::int64_t inter_node_bytes(const CommGraph& graph, std::span<const Node> node_of_rank,
                                            int threads);

}  // namespace topoloom::grid
