// SPDX-License-Identifier: BSD-3-Clause
// The quickest way to the distances between the slots of an allocation: by offset, from a table, or as the machine does.
#pragma once

#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/place/state/arrangement.hpp"
#include "topoloom/place/state/offset_space.hpp"
#include "topoloom/place/state/symmetric_space.hpp"

namespace topoloom {

/// Distances of all pairs of slots, which are named by their position in the allocation. Where given routes make the
/// ways there and back differ, their sum stands for both: searches need the same value either way to come to an end.
class TableSpace {
   public:
    using Point = std::uint32_t;
    static constexpr std::size_t most_slots =
        2048;  // 8 MiB: beyond the caches a table is slower than computing

    [[nodiscard]] static bool fits(const Allocation& allocation) {
        return allocation.slot_count() <= most_slots &&
               allocation.machine().max_distance() <= std::numeric_limits<std::uint16_t>::max() / 2;
    }

    /// O(slots^2).
    template <class Space>
    TableSpace(const Space& space, std::span<const typename Space::Point> slots)
        : width_(slots.size()), distance_(width_ * width_) {
        bool symmetric = true;
        for (std::size_t a = 0; a < width_; ++a) {
            for (std::size_t b = 0; b < width_; ++b)
                at(a, b) = static_cast<std::uint16_t>(space.distance(slots[a], slots[b]));
            for (std::size_t b = 0; b < a; ++b) symmetric &= at(a, b) == at(b, a);
        }
        differ_ = !symmetric;
        if (symmetric) return;
        for (std::size_t a = 0; a < width_; ++a) {
            for (std::size_t b = 0; b < a; ++b) {
                at(a, b) = static_cast<std::uint16_t>(at(a, b) + at(b, a));
                at(b, a) = at(a, b);
            }
        }
    }

    [[nodiscard]] std::uint32_t distance(Point a, Point b) const { return distance_[a * width_ + b]; }
    /// As that of BothWays: distances are sums of two.
    [[nodiscard]] bool differ() const { return differ_; }

   private:
    [[nodiscard]] std::uint16_t& at(std::size_t a, std::size_t b) { return distance_[a * width_ + b]; }

    std::size_t width_;
    bool differ_ = false;
    std::vector<std::uint16_t> distance_;
};

/// Calls use(space, slots, quick, quick_slots): the machine's space and one that is quicker to compare points in, each
/// with the points of all slots of the allocation. Their distances are the same but where ways there and back differ:
/// the quick ones then are the sum of both.
template <class Use>
decltype(auto) with_quick_space(const Allocation& allocation, Use&& use) {
    const Machine& machine = allocation.machine();
    return with_space(machine, [&]<class Space>(const Space& space) {
        const std::vector<typename Space::Point> slots = slot_points(space, allocation);
        if constexpr (std::is_same_v<Space, FlatSpace<Torus>>) {
            if (OffsetSpace::fits(space.network())) {
                const OffsetSpace quick(space.network(), machine.slots_per_node());
                return use(space, slots, quick, slot_points(quick, allocation));
            }
        }
        if (TableSpace::fits(allocation)) {
            std::vector<std::uint32_t> positions(slots.size());
            std::iota(positions.begin(), positions.end(), 0U);
            return use(space, slots, TableSpace(space, slots), positions);
        }
        if constexpr (BothWays<Space>::may_differ) {
            return use(space, slots, BothWays<Space>(space), slots);
        } else {
            return use(space, slots, space, slots);
        }
    });
}

}  // namespace topoloom
