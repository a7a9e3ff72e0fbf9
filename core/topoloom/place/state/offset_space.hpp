// SPDX-License-Identifier: BSD-3-Clause
// Torus distances from a table indexed by coordinate offset.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "topoloom/base/extents.hpp"
#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// Looks up distances in a table by coordinate offset. A slot's Point encodes its coordinates in the mixed
/// radix 2
/// * extent - 1, so that the difference of two points determines the difference of their coordinates. A
/// distance takes a subtraction and one memory access. Searches mostly evaluate near slots, and that part of
/// the table stays in the L1 cache.
class OffsetSpace {
   public:
    using Point = std::int32_t;

    /// Whether the table is small enough and its distances fit one byte.
    [[nodiscard]] static bool fits(const Torus& torus) {
        std::uint64_t entries = 1;
        for (const std::uint32_t extent : torus.grid()) {
            entries *= 2 * std::uint64_t{extent} - 1;
            if (entries > max_entries) return false;
        }
        return torus.diameter() <= 255;
    }

    /// Builds the table in O(table size); requires fits().
    OffsetSpace(const Torus& torus, std::uint32_t slots_per_node)
        : torus_(&torus), slots_per_node_(slots_per_node), stride_(torus.axis_count()) {
        const Extents& grid = torus.grid();
        std::uint32_t entries = 1;
        for (std::uint32_t axis = torus.axis_count(); axis-- > 0;) {
            stride_[axis] = static_cast<std::int32_t>(entries);
            entries *= 2 * grid[axis] - 1;
        }
        distance_.assign(entries, 0);
        origin_ = distance_.data() + entries / 2;
        // Adds the axes one by one, last first: repeats the block of all later axes for every offset, and
        // adds the hops of that offset.
        std::uint8_t* const origin = distance_.data() + entries / 2;
        std::int32_t reach = 0;  // the block filled so far is [-reach, reach] around the origin
        for (std::uint32_t axis = torus.axis_count(); axis-- > 0;) {
            const auto extent = static_cast<std::int32_t>(grid[axis]);
            for (std::int32_t offset = 1 - extent; offset < extent; ++offset) {
                if (offset == 0) continue;
                const std::int32_t apart = offset < 0 ? -offset : offset;
                const std::int32_t hops = torus.wraps(axis) ? std::min(apart, extent - apart) : apart;
                for (std::int32_t i = -reach; i <= reach; ++i)
                    origin[offset * stride_[axis] + i] = static_cast<std::uint8_t>(origin[i] + hops);
            }
            reach += (extent - 1) * stride_[axis];
        }
    }

    OffsetSpace(const OffsetSpace&) = delete;
    OffsetSpace& operator=(const OffsetSpace&) = delete;

    [[nodiscard]] Point point(Slot slot) const {
        const Extents at = torus_->coordinates(Node{slot.value / slots_per_node_});
        Point p = 0;
        for (std::size_t axis = 0; axis < at.size(); ++axis)
            p += static_cast<std::int32_t>(at[axis]) * stride_[axis];
        return p;
    }
    [[nodiscard]] std::uint32_t distance(Point a, Point b) const { return origin_[a - b]; }

   private:
    static constexpr std::uint64_t max_entries = std::uint64_t{1} << 25;

    const Torus* torus_;
    std::uint32_t slots_per_node_;
    std::vector<std::int32_t> stride_;
    std::vector<std::uint8_t> distance_;
    const std::uint8_t* origin_;
};

}  // namespace topoloom
