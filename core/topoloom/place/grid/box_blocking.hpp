// SPDX-License-Identifier: BSD-3-Clause
// A grid cut into boxes for a hierarchy: the cheapest nested cuts, found exactly.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "topoloom/base/extents.hpp"
#include "topoloom/base/id.hpp"
#include "topoloom/pattern/recognize/grid_pattern.hpp"

namespace topoloom::grid {

/// One level of a hierarchy, listed bottom-up: `arity` parts form a group; parts of a group are `distance` apart.
struct GroupLevel {
    std::uint64_t arity;
    std::uint64_t distance;
};

/// Cuts a box of the pattern along planes, again and again, until every piece has the size of a group, then these into
/// smaller groups, level by level. Of all cuts that leave only boxes it finds those of least hop-bytes: dynamic
/// programming over the extents of boxes, in which rings are open once cut. O(boxes * sum of extents) time at most;
/// boxes whose size does not suit are never met. Memory 12 bytes per cell and level.
class BoxBlocking {
   public:
    BoxBlocking(const GridPattern& pattern, std::vector<GroupLevel> levels);

    /// Hop-bytes inside a box of these extents, which must have the size of a group of the highest level; none
    /// if it cannot be cut into boxes. Exact for uniform patterns.
    [[nodiscard]] std::optional<double> cost(const Extents& box);

    /// The cells of such a box, group by group; `origin` is its first cell. Only after cost().
    void list_cells(const Extents& box, GridCell origin, std::vector<GridCell>& cells) const;

   private:
    /// Known results for a box that lies in one group of level + 1.
    struct Known {
        float cost = -1;        // unknown; infinite: impossible
        std::uint32_t cut = 0;  // axis * 2^24 + where; 2^32 - 1: none, it is one group
    };
    using Box = Extents;

    [[nodiscard]] std::size_t index(const Box& box) const;
    [[nodiscard]] std::uint64_t volume(const Box& box) const;
    /// Bytes between both sides of a cut, per pair of partners on the axis that is cut.
    [[nodiscard]] double bytes_per_pair(const Box& box, std::size_t axis) const;
    [[nodiscard]] double inner_bytes(const Box& box) const;
    double solve(std::size_t level, Box& box);
    void list(std::size_t level, Box& box, GridCell origin, std::vector<GridCell>& cells) const;

    const GridPattern& pattern_;
    std::vector<GroupLevel> levels_;
    std::vector<std::uint64_t> size_;  // of a part at every level: 1, arity[0], ...
    Extents stride_;
    std::vector<std::vector<Known>> known_;
};

}  // namespace topoloom::grid
