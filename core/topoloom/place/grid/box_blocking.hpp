// SPDX-License-Identifier: BSD-3-Clause
// Cuts a grid into nested boxes for the levels of a hierarchy. The cuts found are the cheapest ones.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "topoloom/base/extents.hpp"
#include "topoloom/base/id.hpp"
#include "topoloom/pattern/recognize/grid_pattern.hpp"

namespace topoloom::grid {

/// One level of a hierarchy, listed bottom-up: `arity` parts form a group, and the parts of a group are
/// `distance` apart.
struct GroupLevel {
    std::uint64_t arity;
    std::uint64_t distance;
};

/// Cuts a box of the pattern along planes until every piece has the size of a group, then cuts the pieces
/// into smaller groups, level by level. Dynamic programming over the extents of boxes finds the cuts with the
/// fewest hop-bytes among all that leave only boxes. A ring becomes a path once it is cut. Takes at most
/// O(boxes * sum of extents); boxes of sizes that cannot occur are never visited. Memory: 12 bytes per cell
/// and level.
class BoxBlocking {
   public:
    BoxBlocking(const GridPattern& pattern, std::vector<GroupLevel> levels);

    /// Hop-bytes inside a box with these extents; the box must have the size of a group of the highest level.
    /// None if the box cannot be cut into boxes of the required sizes. Exact for uniform patterns.
    [[nodiscard]] std::optional<double> cost(const Extents& box);

    /// Appends the cells of a box, group by group; `origin` is the first cell. Requires a previous cost() of
    /// the same box.
    void list_cells(const Extents& box, GridCell origin, std::vector<GridCell>& cells) const;

   private:
    /// The result for a box that lies inside one group of level + 1.
    struct KnownCost {
        float cost = -1;        // hop-bytes; negative: unknown; infinite: impossible
        std::uint32_t cut = 0;  // axis * 2^24 + cut position; 2^32 - 1: no cut, the box is one group
    };
    using Box = Extents;

    [[nodiscard]] std::size_t index(const Box& box) const;
    [[nodiscard]] std::uint64_t volume(const Box& box) const;
    /// Bytes across a cut, per pair of partners on the axis that is cut.
    [[nodiscard]] double bytes_per_pair(const Box& box, std::size_t axis) const;
    [[nodiscard]] double inner_bytes(const Box& box) const;
    double find_cheapest_cuts(std::size_t level, Box& box);
    void list_groups(std::size_t level, Box& box, GridCell origin, std::vector<GridCell>& cells) const;

    const GridPattern& pattern_;
    std::vector<GroupLevel> levels_;
    std::vector<std::uint64_t> size_;  // cells per part at every level: 1, arity[0], ...
    Extents stride_;
    std::vector<std::vector<KnownCost>> known_;
};

}  // namespace topoloom::grid
