// SPDX-License-Identifier: BSD-3-Clause
// The free slots of an allocation, searched outward: which of them is best for a rank, without trying them all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "topoloom/machine/curves.hpp"

namespace topoloom {

/// Slots are named by their position in the allocation. They lie along a locality-preserving order that is halved
/// again and again; every part knows a region that holds it, so that whole parts are ruled out at once.
/// Memory O(slots); take and release O(log slots).
template <class Space>
class FreeSlots {
   public:
    using Point = typename Space::Point;
    using Region = typename Space::Network::Region;
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    struct Found {
        std::uint32_t position = none;
        std::uint64_t cost = std::numeric_limits<std::uint64_t>::max();
        std::uint64_t evaluated = 0;  // slots and parts looked at
    };

    FreeSlots(const Space& space, const Allocation& allocation)
        : order_(curve_order(Curve::hilbert, allocation)),
          is_free_(order_.size(), true),
          free_(order_.size()) {
        place_in_order_.resize(order_.size());
        std::vector<typename Space::Network::Point> network;
        for (std::uint32_t i = 0; i < order_.size(); ++i) {
            points_.push_back(space.point(allocation.slots()[order_[i]]));
            network.push_back(Space::on_network(points_.back()));
            place_in_order_[order_[i]] = i;
        }
        parts_.reserve(4 * order_.size() / leaf_size + 2);
        build(space, network, 0, static_cast<std::uint32_t>(order_.size()));
    }

    [[nodiscard]] std::size_t count() const { return free_; }
    [[nodiscard]] bool is_free(std::uint32_t position) const { return is_free_[place_in_order_[position]]; }
    void take(std::uint32_t position) { set(position, false); }
    void release(std::uint32_t position) { set(position, true); }

    /// The free slot of least pull.cost(point); among equals the one that comes first in the allocation.
    template <class Pull>
    [[nodiscard]] Found nearest(const Pull& pull) const {
        Found best;
        if (free_ > 0) search(0, 0, pull, best);
        return best;
    }

   private:
    static constexpr std::uint32_t leaf_size = 8;

    struct Part {
        std::uint32_t begin, end;  // in order_
        std::uint32_t right;       // index of the second half; the first half is the next part; none: a leaf
        std::uint32_t first;       // least position of a free slot; none: nothing free
        Region region;
    };

    std::uint32_t build(const Space& space, const std::vector<typename Space::Network::Point>& network,
                        std::uint32_t begin, std::uint32_t end) {
        const auto me = static_cast<std::uint32_t>(parts_.size());
        const std::span part(network.data() + begin, end - begin);
        parts_.push_back({begin, end, none, first_free(begin, end), space.network().region(part)});
        if (end - begin > leaf_size) {
            const std::uint32_t middle = begin + (end - begin) / 2;
            build(space, network, begin, middle);
            parts_[me].right = build(space, network, middle, end);
        }
        return me;
    }

    [[nodiscard]] std::uint32_t first_free(std::uint32_t begin, std::uint32_t end) const {
        std::uint32_t first = none;
        for (std::uint32_t i = begin; i < end; ++i) {
            if (is_free_[i]) first = std::min(first, order_[i]);
        }
        return first;
    }

    void set(std::uint32_t position, bool now_free) {
        const std::uint32_t at = place_in_order_[position];
        free_ = now_free ? free_ + 1 : free_ - 1;
        is_free_[at] = now_free;
        update(0, at);
    }

    void update(std::uint32_t part, std::uint32_t at) {
        Part& p = parts_[part];
        if (p.right == none) {
            p.first = first_free(p.begin, p.end);
            return;
        }
        update(at < parts_[p.right].begin ? part + 1 : p.right, at);
        p.first = std::min(parts_[part + 1].first, parts_[p.right].first);
    }

    [[nodiscard]] static bool hopeless(const Part& part, std::uint64_t bound, const Found& best) {
        return part.first == none || bound > best.cost || (bound == best.cost && part.first > best.position);
    }

    template <class Pull>
    void search(std::uint32_t part, std::uint64_t bound, const Pull& pull, Found& best) const {
        const Part& p = parts_[part];
        if (hopeless(p, bound, best)) return;
        if (p.right == none) {
            best.evaluated += p.end - p.begin;
            for (std::uint32_t i = p.begin; i < p.end; ++i) {
                if (!is_free_[i]) continue;
                const std::uint64_t cost = pull.cost(points_[i]);
                if (cost < best.cost || (cost == best.cost && order_[i] < best.position)) {
                    best.cost = cost;
                    best.position = order_[i];
                }
            }
            return;
        }
        std::uint32_t near = part + 1;
        std::uint32_t far = p.right;
        best.evaluated += 2;
        std::uint64_t near_bound = pull.bound(parts_[near].region);
        std::uint64_t far_bound = pull.bound(parts_[far].region);
        if (far_bound < near_bound) {
            std::swap(near, far);
            std::swap(near_bound, far_bound);
        }
        search(near, near_bound, pull, best);
        search(far, far_bound, pull, best);
    }

    std::vector<std::uint32_t> order_;           // position of the i-th slot along the order
    std::vector<std::uint32_t> place_in_order_;  // the inverse
    std::vector<Point> points_;                  // along the order
    std::vector<char> is_free_;                  // along the order
    std::vector<Part> parts_;                    // depth first: a part, its first half, its second half
    std::size_t free_;
};

}  // namespace topoloom
