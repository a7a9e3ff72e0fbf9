// SPDX-License-Identifier: BSD-3-Clause
// Distances of a network without coordinates: a table with 2 bytes per pair of routers or switches.
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

/// Each node uses a row of the table: the row of its router at distance 0, or of its only switch one link
/// away. Nodes of one router or switch share the row.
class HopTable {
   public:
    struct Point {
        std::uint32_t node;
        std::uint32_t row : 31;
        std::uint32_t leaf : 1;
    };
    /// All points in a range of rows.
    struct Region {
        std::uint32_t low;
        std::uint32_t high;
        std::uint32_t leaf;  // least distance from the points to their rows
    };
    using DistanceSum = PointwiseDistanceSum<HopTable>;
    /// [b * width + a]: hops from row a to row b. Rows of routers without nodes may come last, and are never
    /// row b.
    using Hops = BigVector<std::uint16_t>;
    /// The hops from one node to another, if they differ from the table.
    struct HopOverride {
        std::uint32_t from;
        std::uint32_t to;
        std::uint32_t hops;
    };

    /// Classes of rows, with a small table of the distances between classes: hops between rows of different
    /// groups depend only on the classes. A group is a run of rows.
    struct RowClasses {
        std::vector<std::uint32_t> of_row;
        std::uint32_t count = 0;
        std::vector<std::uint16_t> hops;  // [b * count + a]; symmetric
        std::uint16_t within = 0;         // hops between two rows of one group
    };

    /// The hops between rows without a route.
    static constexpr std::uint16_t unreached = std::numeric_limits<std::uint16_t>::max();

    HopTable() = default;
    /// `nodes` contains one point per node. `group` contains one group per row, or is empty. Bisection by
    /// split_keys() avoids cutting groups.
    HopTable(std::vector<Point> nodes, std::size_t width, Hops hops, std::vector<std::uint32_t> group = {});
    /// Makes a table from classes of rows. All rows must reach each other.
    HopTable(std::vector<Point> nodes, RowClasses classes, std::vector<std::uint32_t> group);
    /// Replaces the hops of some pairs of nodes.
    void override_hops(std::vector<HopOverride> overrides);

    /// Makes a table in which the hops from row a to row b are hops(a, b). Uses all cores.
    template <class HopsBetween>
    [[nodiscard]] static Hops make_hops(std::size_t rows, const HopsBetween& hops) {
        return make_hops_by_row(rows, [&](std::uint32_t b, std::uint16_t* from) {
            for (std::uint32_t a = 0; a < rows; ++a) from[a] = static_cast<std::uint16_t>(hops(a, b));
        });
    }
    /// Makes a table by calling fill(b, hops) for every row b. fill() must write the hops from every row to
    /// row b.
    [[nodiscard]] static Hops make_hops_by_row(
        std::size_t rows, const std::function<void(std::uint32_t, std::uint16_t*)>& fill);

    /// Returns the points of nodes that are numbered router by router, with one row per router.
    [[nodiscard]] static std::vector<Point> points_of_routers(std::size_t routers,
                                                              std::uint32_t nodes_per_router);

    /// Throws Error if a table of this size, with its points, does not fit in memory.
    static void require_memory(std::uint64_t width, std::uint64_t rows, std::uint64_t nodes = 0);

    [[nodiscard]] std::size_t node_count() const { return nodes_.size(); }
    [[nodiscard]] Point point(Node node) const { return nodes_[node.value]; }
    [[nodiscard]] std::uint32_t distance(Point a, Point b) const {
        if (a.node == b.node) return 0;
        if (!is_plain_) [[unlikely]]
            return look_up_hops(a, b);
        return table_hops(a, b);
    }
    [[nodiscard]] bool can_reach(Point a, Point b) const {
        return classes_.count > 0 || hops_[b.row * width_ + a.row] != unreached;
    }
    /// Whether all routes have the same length in both directions.
    [[nodiscard]] bool is_symmetric() const { return symmetric_; }
    /// Two nodes such that the first cannot reach the second, or the same node twice if all reach each other.
    [[nodiscard]] std::pair<Node, Node> unreachable_pair() const { return unreachable_pair_; }
    /// The largest distance between nodes that reach each other.
    [[nodiscard]] std::uint32_t max_distance() const { return farthest_; }
    /// The distance class of a point. Points of one class have equal distances to every other point.
    [[nodiscard]] std::uint64_t distance_class(Point p) const {
        return overrides_.empty() ? std::uint64_t{p.row} << 1 | p.leaf : p.node;
    }
    /// Whether some nodes are 0 hops apart.
    [[nodiscard]] bool nodes_share_routers() const { return nodes_share_routers_; }
    [[nodiscard]] std::span<const std::uint16_t> hops_to(std::uint32_t row) const {
        return {hops_.data() + row * width_, width_};
    }

    /// For each point, the sum of distances to the points that it reaches. O(rows^2 + points).
    [[nodiscard]] std::vector<std::uint64_t> total_distances(std::span<const Point> points) const;
    /// Counts the ordered pairs of different points in which the first point reaches the second. O(rows^2 +
    /// points).
    [[nodiscard]] std::uint64_t count_reached_pairs(std::span<const Point> points) const;
    /// Keys that split the points by group and, inside a group, by the difference between the distances to
    /// two rows that are far apart.
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
    /// Maximum number of blocks of a region for which bound() is computed. Bounds of larger regions prune
    /// little.
    static constexpr std::uint32_t max_blocks = 4;

    [[nodiscard]] std::uint32_t table_hops(Point a, Point b) const {
        return hops_[b.row * width_ + a.row] + a.leaf + b.leaf;
    }
    [[nodiscard]] std::uint32_t look_up_hops(Point a, Point b) const;
    [[nodiscard]] std::uint32_t class_distance(std::uint32_t a, std::uint32_t b) const;
    /// The number of nodes and the first node of each row.
    struct NodesOfRows {
        std::vector<std::uint32_t> count;
        std::vector<std::uint32_t> first;
    };
    [[nodiscard]] NodesOfRows count_nodes();
    void find_extremes();
    void divide_into_blocks();
    [[nodiscard]] bool check_symmetry() const;
    /// The number of points that a row reaches, and the sum of the hops to them.
    struct HopSum {
        std::uint64_t hops = 0;
        std::uint64_t points = 0;
    };
    [[nodiscard]] std::vector<HopSum> sum_hops_from_rows(std::span<const Point> points) const;
    [[nodiscard]] std::vector<HopSum> sum_hops_by_classes(std::span<const std::uint64_t> count,
                                                          std::span<const std::uint64_t> leaves) const;

    std::vector<Point> nodes_;
    std::size_t width_ = 0;
    std::size_t rows_ = 0;
    Hops hops_;
    RowClasses classes_;
    bool is_plain_ = true;                // whether there are neither overrides nor classes
    std::vector<HopOverride> overrides_;  // hops that differ from the table, sorted by (from, to)
    std::vector<std::uint32_t> group_;    // by row
    std::vector<std::uint32_t> block_;    // block of each row, ascending; see divide_into_blocks()
    std::size_t blocks_ = 0;
    Hops nearest_;  // [b * blocks + block]: hops to row b from the nearest row of a block
    std::pair<Node, Node> unreachable_pair_;
    std::uint32_t farthest_ = 0;
    bool symmetric_ = true;
    bool nodes_share_routers_ = false;
};

}  // namespace topoloom
