// SPDX-License-Identifier: BSD-3-Clause
// The slots of an allocation and the room that is left on each: which of those with enough room is best for a rank,
// without trying them all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/machine/curves.hpp"

namespace topoloom {

/// The shared twin of FreeSlots: slots lie along a locality-preserving order that is halved again and again; every part
/// knows a region that holds it and the most room of its slots. Memory O(slots); take O(log slots).
template <class Space>
class RoomySlots {
   public:
    using Region = typename Space::Network::Region;

    struct Found {
        std::uint32_t position;  // in the allocation
        std::uint64_t cost;
        std::int64_t room;
    };

    /// `room` has one entry for each slot of the allocation.
    RoomySlots(const Space& space, const Allocation& allocation, std::span<const std::int64_t> room)
        : order_(curve_order(Curve::hilbert, allocation)), place_in_order_(order_.size()) {
        std::vector<typename Space::Network::Point> network;
        for (std::uint32_t i = 0; i < order_.size(); ++i) {
            points_.push_back(space.point(allocation.slots()[order_[i]]));
            network.push_back(Space::on_network(points_.back()));
            room_.push_back(room[order_[i]]);
            place_in_order_[order_[i]] = i;
        }
        build(space, network, 0, static_cast<std::uint32_t>(order_.size()));
    }

    void take(std::uint32_t position, std::int64_t mass) {
        const std::uint32_t at = place_in_order_[position];
        room_[at] -= mass;
        update(0, at);
    }

    /// The slot of least pull.cost(point) that has room for the mass; among equals the one with the most room, then the
    /// one that the search meets first. None where there is no room. Adds the slots and parts looked at to `evaluated`.
    template <class Pull>
    [[nodiscard]] std::optional<Found> nearest(const Pull& pull, std::int64_t mass,
                                               std::uint64_t& evaluated) const {
        Search<Pull> search{pull, mass, {none, worst, 0}, 0};
        look(0, 0, search);
        evaluated += search.evaluated;
        if (search.best.position == none) return std::nullopt;
        return search.best;
    }

   private:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::uint64_t worst = std::numeric_limits<std::uint64_t>::max();
    static constexpr std::uint32_t leaf_size = 8;

    struct Part {
        std::uint32_t begin, end;  // in order_
        std::uint32_t right;       // index of the second half; the first half is the next part; none: a leaf
        std::int64_t room;         // the most of a slot
        Region region;
    };
    template <class Pull>
    struct Search {
        const Pull& pull;
        std::int64_t mass;
        Found best;
        std::uint64_t evaluated;

        [[nodiscard]] bool is_better(std::uint64_t cost, std::int64_t room) const {
            return room >= mass && (cost < best.cost || (cost == best.cost && room > best.room));
        }
    };

    [[nodiscard]] std::int64_t most_room(std::uint32_t begin, std::uint32_t end) const {
        return *std::max_element(room_.begin() + begin, room_.begin() + end);
    }

    std::uint32_t build(const Space& space, const std::vector<typename Space::Network::Point>& network,
                        std::uint32_t begin, std::uint32_t end) {
        const auto me = static_cast<std::uint32_t>(parts_.size());
        const std::span part(network.data() + begin, end - begin);
        parts_.push_back({begin, end, none, most_room(begin, end), space.network().region(part)});
        if (end - begin > leaf_size) {
            const std::uint32_t middle = begin + (end - begin) / 2;
            build(space, network, begin, middle);
            parts_[me].right = build(space, network, middle, end);
        }
        return me;
    }

    void update(std::uint32_t part, std::uint32_t at) {
        Part& p = parts_[part];
        if (p.right == none) {
            p.room = most_room(p.begin, p.end);
            return;
        }
        update(at < parts_[p.right].begin ? part + 1 : p.right, at);
        p.room = std::max(parts_[part + 1].room, parts_[p.right].room);
    }

    template <class Pull>
    void look(std::uint32_t part, std::uint64_t bound, Search<Pull>& search) const {
        const Part& p = parts_[part];
        if (!search.is_better(bound, p.room)) return;
        if (p.right == none) {
            search.evaluated += p.end - p.begin;
            for (std::uint32_t i = p.begin; i < p.end; ++i) {
                const std::uint64_t cost = search.pull.cost(points_[i]);
                if (search.is_better(cost, room_[i])) search.best = {order_[i], cost, room_[i]};
            }
            return;
        }
        // Bounds are dear, and many parts are full.
        const auto bound_of = [&](std::uint32_t half) {
            return parts_[half].room < search.mass ? worst : search.pull.bound(parts_[half].region);
        };
        std::uint32_t near = part + 1;
        std::uint32_t far = p.right;
        search.evaluated += 2;
        std::uint64_t near_bound = bound_of(near);
        std::uint64_t far_bound = bound_of(far);
        if (far_bound < near_bound) {
            std::swap(near, far);
            std::swap(near_bound, far_bound);
        }
        look(near, near_bound, search);
        look(far, far_bound, search);
    }

    std::vector<std::uint32_t> order_;           // position of the i-th slot along the order
    std::vector<std::uint32_t> place_in_order_;  // the inverse
    std::vector<typename Space::Point> points_;  // along the order
    std::vector<std::int64_t> room_;             // along the order
    std::vector<Part> parts_;                    // depth first: a part, its first half, its second half
};

}  // namespace topoloom
