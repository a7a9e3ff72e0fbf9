// SPDX-License-Identifier: BSD-3-Clause
// Selects the fastest way to compute slot distances: by coordinate offset, from a table, or by the machine.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/machine/slot_space.hpp"
#include "topoloom/place/state/arrangement.hpp"
#include "topoloom/place/state/offset_space.hpp"
#include "topoloom/place/state/tree_key_space.hpp"

namespace topoloom {

/// Table of all distances between slots, which are identified by their position in the allocation. If
/// user-defined routes make distances asymmetric, the table contains the sum of both directions, because
/// searches need symmetric distances to terminate.
class TableSpace {
   public:
    using Point = std::uint32_t;
    /// A table of 8 MiB; a larger one would exceed the caches and be slower than computing distances.
    static constexpr std::size_t max_slots = 2048;

    [[nodiscard]] static bool fits(const Allocation& allocation) {
        return allocation.slot_count() <= max_slots &&
               allocation.machine().max_distance() <= std::numeric_limits<std::uint16_t>::max() / 2;
    }

    /// O(slots^2).
    explicit TableSpace(const Allocation& allocation)
        : width_(allocation.slot_count()), distance_(width_ * width_) {
        const auto space = make_slot_space(allocation.machine(), allocation.slots());
        std::vector<std::uint32_t> row(width_);
        bool symmetric = true;
        for (std::size_t a = 0; a < width_; ++a) {
            space->measure_distances(static_cast<std::uint32_t>(a), 0, row);
            for (std::size_t b = 0; b < width_; ++b) at(a, b) = static_cast<std::uint16_t>(row[b]);
            for (std::size_t b = 0; b < a; ++b) symmetric &= at(a, b) == at(b, a);
        }
        sums_both_directions_ = !symmetric;
        if (symmetric) return;
        for (std::size_t a = 0; a < width_; ++a) {
            for (std::size_t b = 0; b < a; ++b) {
                at(a, b) = static_cast<std::uint16_t>(at(a, b) + at(b, a));
                at(b, a) = at(a, b);
            }
        }
    }

    [[nodiscard]] std::uint32_t distance(Point a, Point b) const { return distance_[a * width_ + b]; }
    /// Whether distances are sums of both directions, as in SymmetricSpace.
    [[nodiscard]] bool sums_both_directions() const { return sums_both_directions_; }

   private:
    [[nodiscard]] std::uint16_t& at(std::size_t a, std::size_t b) { return distance_[a * width_ + b]; }

    std::size_t width_;
    bool sums_both_directions_ = false;
    std::vector<std::uint16_t> distance_;
};

/// Distances from a router table and the levels inside nodes, made symmetric. Local search is sure to
/// terminate only if distances are symmetric: then every accepted move lowers the sum over all pairs of
/// ranks. Only distances of user-defined routes can be asymmetric; for them, the sum of both directions is
/// used.
class SymmetricSpace {
   public:
    using Space = LeveledSpace<HopTable>;
    using Point = Space::Point;

    explicit SymmetricSpace(const Space& space)
        : space_(space), sums_both_directions_(!space.network().is_symmetric()) {}
    [[nodiscard]] Point point(Slot slot) const { return space_.point(slot); }
    [[nodiscard]] bool sums_both_directions() const { return sums_both_directions_; }
    [[nodiscard]] std::uint32_t distance(const Point& a, const Point& b) const {
        if (sums_both_directions_) return space_.distance(a, b) + space_.distance(b, a);
        return space_.distance(a, b);
    }

   private:
    Space space_;
    bool sums_both_directions_;
};

/// Gives SlotSpace the interface of a space, for networks without a compiled search. Each distance takes a
/// virtual call.
class SlotSpaceAdapter {
   public:
    using Point = std::uint32_t;  // position in the allocation

    explicit SlotSpaceAdapter(const Allocation& allocation)
        : space_(make_slot_space(allocation.machine(), allocation.slots())) {}
    [[nodiscard]] std::uint32_t distance(Point a, Point b) const { return space_->distance(a, b); }

   private:
    std::unique_ptr<SlotSpace> space_;
};

/// Calls use(space, slots) with the fastest space for slot distances in an allocation; `slots` are the slots'
/// points by position. Distances are those of the machine; if these are asymmetric, sums of both directions.
/// There are only a few spaces, because searches are compiled for each.
template <class Use>
decltype(auto) with_fast_space(const Allocation& allocation, Use&& use) {
    const Machine& machine = allocation.machine();
    const NodeSpec& inside = machine.node_spec();
    const auto with_points = [&](const auto& space) { return use(space, slot_points(space, allocation)); };
    const auto with_positions = [&](const auto& space) {
        std::vector<std::uint32_t> positions(allocation.slot_count());
        std::iota(positions.begin(), positions.end(), 0U);
        return use(space, positions);
    };
    return with_geometry(machine, [&]<class Network>(const Network& network) {
        if constexpr (std::is_same_v<Network, Torus>) {
            if (inside.is_flat() && OffsetSpace::fits(network))
                return with_points(OffsetSpace(network, machine.slots_per_node()));
        }
        if (TableSpace::fits(allocation)) return with_positions(TableSpace(allocation));
        if constexpr (std::is_same_v<Network, Torus>) {
            return with_points(LeveledSpace<Torus>(network, inside));
        } else if constexpr (std::is_same_v<Network, HopTable>) {
            return with_points(SymmetricSpace(LeveledSpace<HopTable>(network, inside)));
        } else {
            if constexpr (std::is_same_v<Network, Tree>) {
                if (TreeKeySpace::fits(network, inside)) return with_points(TreeKeySpace(network, inside));
            }
            return with_positions(SlotSpaceAdapter(allocation));
        }
    });
}

}  // namespace topoloom
