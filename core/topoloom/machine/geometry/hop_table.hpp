// SPDX-License-Identifier: BSD-3-Clause
// Distances of a network without coordinates: a table with 2 bytes for every pair of its routers or switches.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/base/big_vector.hpp"
#include "topoloom/base/id.hpp"
#include "topoloom/machine/geometry/pointwise_distance_sum.hpp"
#include "topoloom/machine/geometry/split_key.hpp"

namespace topoloom {

/// Every node has a row of the table: that of its router, at distance 0 from the node, or of the one switch that it
/// is attached to as a leaf, a link away. Nodes under one router or switch share the row.
class HopTable {
   public:
    struct Point {
        std::uint32_t node;
        std::uint32_t row : 31;
        std::uint32_t leaf : 1;
    };
    /// Points of these rows.
    struct Region {
        std::uint32_t low;
        std::uint32_t high;
        std::uint32_t leaf;  // the smallest of the points
    };
    using DistanceSum = PointwiseDistanceSum<HopTable>;
    /// [b * width + a]: hops from row a to row b. Rows of routers without nodes may come last, and are then
    /// only ever `a`.
    using Hops = BigVector<std::uint16_t>;
    /// The hops from one node to another, where they differ from what the table says.
    struct Exception {
        std::uint32_t from;
        std::uint32_t to;
        std::uint32_t hops;
    };

    /// Rows that are alike: the hops between rows of different groups depend on their classes only, the same for every row of
    /// a class, so that a small table does for many rows. Groups are runs of rows.
    struct Classes {
        std::vector<std::uint32_t> of_row;
        std::uint32_t count = 0;
        std::vector<std::uint16_t> hops;  // [b * count + a], as long in one direction as in the other
        std::uint16_t within = 0;         // between rows of one group
    };

    /// Between rows that no route joins.
    static constexpr std::uint16_t unreached = std::numeric_limits<std::uint16_t>::max();

    HopTable() = default;
    /// `nodes` in their order; rows of one `group` (given by row, or empty) are cut apart last.
    HopTable(std::vector<Point> nodes, std::size_t width, Hops hops, std::vector<std::uint32_t> group = {});
    /// The same by classes of rows; every row is reached.
    HopTable(std::vector<Point> nodes, Classes classes, std::vector<std::uint32_t> group);
    /// Takes other hops for some pairs of nodes.
    void except(std::vector<Exception> exceptions);

    /// A table of hops(a, b) between rows, filled on all cores.
    template <class HopsBetween>
    [[nodiscard]] static Hops filled(std::size_t rows, const HopsBetween& hops) {
        return filled_by_row(rows, [&](std::uint32_t b, std::uint16_t* from) {
            for (std::uint32_t a = 0; a < rows; ++a) from[a] = static_cast<std::uint16_t>(hops(a, b));
        });
    }
    /// The same by fill(b, hops), which writes the hops from every row to row b.
    [[nodiscard]] static Hops filled_by_row(std::size_t rows,
                                            const std::function<void(std::uint32_t, std::uint16_t*)>& fill);

    /// Throws Error if a table with these rows and the points of these nodes does not fit in memory.
    static void require_memory(std::uint64_t width, std::uint64_t rows, std::uint64_t nodes = 0);

    [[nodiscard]] std::size_t node_count() const { return nodes_.size(); }
    [[nodiscard]] Point point(Node node) const { return nodes_[node.value]; }
    [[nodiscard]] std::uint32_t distance(Point a, Point b) const {
        if (a.node == b.node) return 0;
        if (!is_plain_) [[unlikely]]
            return looked_up(a, b);
        return table(a, b);
    }
    [[nodiscard]] bool can_reach(Point a, Point b) const {
        return classes_.count > 0 || hops_[b.row * width_ + a.row] != unreached;
    }
    /// Whether the route back is always as long as the route there.
    [[nodiscard]] bool is_symmetric() const { return symmetric_; }
    /// Two nodes, the first of which cannot reach the second; the same node twice if all reach each other.
    [[nodiscard]] std::pair<Node, Node> unreachable_pair() const { return unreachable_pair_; }
    /// Over pairs of nodes that reach each other.
    [[nodiscard]] std::uint32_t max_distance() const { return farthest_; }
    /// Points of one kind are as far as each other from all others.
    [[nodiscard]] std::uint64_t distance_class(Point p) const {
        return exceptions_.empty() ? std::uint64_t{p.row} << 1 | p.leaf : p.node;
    }
    /// Whether some nodes are 0 hops apart.
    [[nodiscard]] bool nodes_share_routers() const { return nodes_share_routers_; }
    [[nodiscard]] std::span<const std::uint16_t> hops_to(std::uint32_t row) const {
        return {hops_.data() + row * width_, width_};
    }

    /// Of different nodes, to those that can be reached. O(rows^2 + points).
    [[nodiscard]] std::vector<std::uint64_t> total_distances(std::span<const Point> points) const;
    /// Ordered pairs of different nodes, the first of which reaches the second. O(rows^2 + points).
    [[nodiscard]] std::uint64_t reached_pairs(std::span<const Point> points) const;
    /// By groups, or by how much nearer a point is to one of two far ends than to the other.
    [[nodiscard]] std::vector<SplitKey> split_keys(std::span<const Point> points) const;
    [[nodiscard]] Region region(std::span<const Point> points) const;
    [[nodiscard]] std::uint32_t distance_from(const Region& region, Point p) const {
        if ((region.low <= p.row && p.row <= region.high) || !is_plain_) return 0;
        if (region.low == region.high) return hops_[p.row * width_ + region.low] + region.leaf + p.leaf;
        const std::uint32_t last = block_[region.high];
        std::uint32_t block = block_[region.low];
        if (last - block >= max_blocks) return 0;
        std::uint16_t least = unreached;
        for (; block <= last; ++block) least = std::min(least, nearest_[p.row * blocks_ + block]);
        return least + region.leaf + p.leaf;
    }

   private:
    /// Regions of more are hardly ever ruled out.
    static constexpr std::uint32_t max_blocks = 4;

    [[nodiscard]] std::uint32_t table(Point a, Point b) const {
        return hops_[b.row * width_ + a.row] + a.leaf + b.leaf;
    }
    [[nodiscard]] std::uint32_t looked_up(Point a, Point b) const;
    [[nodiscard]] std::uint32_t between_classed(std::uint32_t a, std::uint32_t b) const;
    /// Of every row, how many nodes it has, and the first of them.
    struct NodesOfRows {
        std::vector<std::uint32_t> count;
        std::vector<std::uint32_t> first;
    };
    [[nodiscard]] NodesOfRows count_nodes();
    void measure();
    void make_blocks();
    [[nodiscard]] bool same_both_ways() const;
    /// Hops of the table, and points, from a row to all given points that it reaches.
    struct Total {
        std::uint64_t hops = 0;
        std::uint64_t points = 0;
    };
    [[nodiscard]] std::vector<Total> total_from_rows(std::span<const Point> points) const;
    [[nodiscard]] std::vector<Total> total_by_classes(std::span<const std::uint64_t> count,
                                                      std::span<const std::uint64_t> leaves) const;

    std::vector<Point> nodes_;
    std::size_t width_ = 0;
    std::size_t rows_ = 0;
    Hops hops_;
    Classes classes_;
    bool is_plain_ = true;               // no exceptions, no classes
    std::vector<Exception> exceptions_;  // sorted by (from, to)
    std::vector<std::uint32_t> group_;   // by row
    std::vector<std::uint32_t> block_;   // by row, ascending: its group, or the root of their number each
    std::size_t blocks_ = 0;
    Hops nearest_;  // [b * blocks + block]: hops to row b from the nearest row of a block
    std::pair<Node, Node> unreachable_pair_;
    std::uint32_t farthest_ = 0;
    bool symmetric_ = true;
    bool nodes_share_routers_ = false;
};

}  // namespace topoloom
