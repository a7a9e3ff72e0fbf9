// SPDX-License-Identifier: BSD-3-Clause
// Finds near slots with spare capacity: in the brick that points span on a torus or mesh, then in the shells
// around it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/machine/allocations/allocation.hpp"

namespace topoloom::structure {

/// Slots are identified by their position in the allocation. Finds nothing if the network is not a torus or
/// mesh, or if distances depend on levels inside nodes. Takes O(routers) memory; update() takes O(slots of a
/// router).
class BrickShells {
   public:
    /// `capacity` has one entry per slot of the allocation and must outlive this object.
    BrickShells(const Allocation& allocation, std::span<const std::int64_t> capacity) : capacity_(capacity) {
        const Machine& machine = allocation.machine();
        if (!machine.node_spec().is_flat()) return;
        with_geometry(machine, [&](const auto& network) {
            if constexpr (requires { network.axis_count(); }) {
                std::uint32_t stride = 1;
                axes_.resize(network.axis_count());
                for (std::uint32_t axis = network.axis_count(); axis-- > 0; stride *= network.grid()[axis])
                    axes_[axis] = {static_cast<std::int32_t>(network.grid()[axis]), network.wraps(axis),
                                   stride};
                for (const Slot slot : allocation.slots())
                    router_.push_back(network.vertex(machine.node(slot)));
                most_.resize(network.vertex_count());
            }
        });
        if (axes_.empty()) return;
        first_.assign(most_.size() + 1, 0);
        for (const std::uint32_t router : router_) ++first_[router + 1];
        for (std::size_t r = 0; r < most_.size(); ++r) first_[r + 1] += first_[r];
        std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
        position_.resize(capacity_.size());
        for (const Position position : ids<Position>(capacity_.size()))
            position_[next[router_[position.value]]++] = position;
        for (std::uint32_t r = 0; r < most_.size(); ++r) most_[r] = max_capacity(r);
    }

    /// Must be called after the capacity of a slot changes.
    void update(Position position) {
        if (axes_.empty()) return;
        const std::uint32_t router = router_[position.value];
        most_[router] = max_capacity(router);
    }

    /// The slot with the most capacity in the brick. If that has too little for the mass, the slot with the
    /// most capacity in the first shell that has one with enough. For one or two points, this minimizes the
    /// sum of distances.
    /// None if no such slot is near the brick. Adds the routers visited to `evaluated`.
    [[nodiscard]] std::optional<Position> find_nearest(std::span<const Position> points, std::int64_t mass,
                                                       std::uint64_t& evaluated) const {
        if (axes_.empty()) return std::nullopt;
        const Brick brick = find_brick(points);
        BestRouter best{no_index, mass - 1, 0};
        for (std::int32_t out = 0; out < brick.shells && best.router == no_index && best.looked < far; ++out)
            search_shell(brick, 0, out, 0, best);
        evaluated += best.looked;
        if (best.router == no_index) return std::nullopt;
        for (std::uint32_t i = first_[best.router];; ++i) {
            if (capacity_[position_[i].value] == best.capacity) return position_[i];
        }
    }

   private:
    static constexpr std::uint64_t far = 256;  // limit of routers; beyond it, SpareSlots is faster

    struct Axis {
        std::int32_t extent;
        bool wraps;
        std::uint32_t stride;  // difference of router numbers between neighbors
    };
    struct Brick {
        std::vector<std::int32_t> low;  // on a ring, the brick may wrap around
        std::vector<std::int32_t> length;
        std::int32_t shells = 16;  // shells to search; farther ones are not in order of distance
    };
    struct BestRouter {
        std::uint32_t router;
        std::int64_t capacity;
        std::uint64_t looked;
    };

    [[nodiscard]] std::int64_t max_capacity(std::uint32_t router) const {
        std::int64_t most = -1;
        for (std::uint32_t i = first_[router]; i < first_[router + 1]; ++i)
            most = std::max(most, capacity_[position_[i].value]);
        return most;
    }

    /// The shortest arc of a ring, or segment of a row, that contains the coordinates of all points.
    struct Arc {
        std::int32_t low;
        std::int32_t length;
    };
    [[nodiscard]] Arc arc_of(std::span<const Position> points, std::uint32_t axis) const {
        const auto [extent, wraps, stride] = axes_[axis];
        std::vector<std::int32_t> at;
        for (const Position point : points)
            at.push_back(static_cast<std::int32_t>(router_[point.value] / stride) % extent);
        std::ranges::sort(at);
        Arc arc{at.front(), at.back() - at.front() + 1};
        if (!wraps) return arc;
        for (std::size_t i = 1; i < at.size(); ++i) {
            const std::int32_t others = extent - (at[i] - at[i - 1]) + 1;
            if (others < arc.length) arc = {at[i], others};
        }
        return arc;
    }

    [[nodiscard]] Brick find_brick(std::span<const Position> points) const {
        const bool pair = points.size() <= 2;
        Brick brick{std::vector<std::int32_t>(axes_.size()), std::vector<std::int32_t>(axes_.size())};
        std::uint64_t routers = 1;
        for (std::uint32_t axis = 0; axis < axes_.size(); ++axis) {
            const auto [extent, wraps, stride] = axes_[axis];
            const Arc arc = arc_of(points, axis);
            brick.low[axis] = arc.low;
            brick.length[axis] = arc.length;
            if (wraps && pair && 2 * (arc.length - 1) == extent) {  // both directions are equally short
                brick.length[axis] = extent;
            } else if (wraps && extent > 1) {
                // With two points, a shell must not go so far that the way around the ring is shorter.
                const std::int32_t saved = extent - (pair ? 2 * (arc.length - 1) : arc.length - 1);
                brick.shells = std::min(brick.shells, (saved + 1) / 2);
            }
            routers *= static_cast<std::uint64_t>(brick.length[axis]);
        }
        if (routers > 16 * far) brick.shells = 0;
        return brick;
    }

    /// Visits the routers whose steps outside the brick sum to `out` over this and later axes.
    void search_shell(const Brick& brick, std::uint32_t axis, std::int32_t out, std::uint32_t router,
                      BestRouter& best) const {
        if (axis == axes_.size()) {
            ++best.looked;
            if (most_[router] > best.capacity) best = {router, most_[router], best.looked};
            return;
        }
        const Axis& along = axes_[axis];
        const auto go_to = [&](std::int32_t at, std::int32_t left) {
            if (at < 0 || at >= along.extent) {
                if (!along.wraps) return;
                at += at < 0 ? along.extent : -along.extent;
            }
            search_shell(brick, axis + 1, left, router + static_cast<std::uint32_t>(at) * along.stride, best);
        };
        const std::int32_t low = brick.low[axis];
        const std::int32_t length = brick.length[axis];
        const bool last = axis + 1 == axes_.size();
        if (!last || out == 0) {
            for (std::int32_t i = 0; i < length; ++i) go_to(low + i, out);
        }
        if (length == along.extent) return;
        for (std::int32_t step = last ? std::max(out, 1) : 1; step <= out; ++step) {
            go_to(low - step, out - step);
            go_to(low + length - 1 + step, out - step);
        }
    }

    std::vector<Axis> axes_;                  // empty if find_nearest() never finds a slot
    std::span<const std::int64_t> capacity_;  // by position
    std::vector<std::uint32_t> router_;       // by position
    std::vector<std::uint32_t> first_;        // by router: index of its first slot in position_
    std::vector<Position> position_;          // positions of slots, grouped by router
    std::vector<std::int64_t> most_;          // by router: largest slot capacity; -1: no slot
};

}  // namespace topoloom::structure
