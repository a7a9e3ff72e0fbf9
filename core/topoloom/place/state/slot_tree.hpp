// SPDX-License-Identifier: BSD-3-Clause
// The slots of an allocation in a tree, searched outward: the best one for a rank is found without trying them all.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/place/state/positions_along.hpp"

namespace topoloom {

/// Slots are named by their position in the allocation. They lie along a locality-preserving order that is halved again
/// and again; every part knows a region that holds it and the `Join` of its slots' values, so that whole parts are ruled
/// out at once. Memory O(slots); set O(log slots).
template <class Space, class Value, class Join>
class SlotTree {
   public:
    /// value(position) is that of a slot.
    template <class ValueOf>
    SlotTree(const Space& space, const Allocation& allocation, const ValueOf& value_of)
        : order_(positions_along(Curve::hilbert, allocation)), index_in_order_(order_.size()) {
        std::vector<typename Space::Network::Point> network;
        for (std::uint32_t i = 0; i < order_.size(); ++i) {
            points_.push_back(space.point(allocation.slots()[order_[i].value]));
            network.push_back(Space::on_network(points_.back()));
            value_.push_back(value_of(order_[i]));
            index_in_order_[order_[i].value] = i;
        }
        parts_.reserve(4 * order_.size() / leaf_size + 2);
        build(space, network, 0, static_cast<std::uint32_t>(order_.size()));
    }

    [[nodiscard]] const typename Space::Point& point(Position position) const {
        return points_[index_in_order_[position.value]];
    }
    [[nodiscard]] Value value(Position position) const { return value_[index_in_order_[position.value]]; }
    void set(Position position, Value value) {
        const std::uint32_t at = index_in_order_[position.value];
        value_[at] = value;
        update(0, at);
    }

    /// Shows `best` what may be better, the nearest parts first: best.admits(value) says whether a slot of that value,
    /// or a part of that joint value, is a candidate at all; best.hopes(value, bound) whether one that costs no
    /// less than the bound may be better; best.offer(position, value, cost) takes it if it is. Costs are pull.cost(point)
    /// and pull.bound(region). Returns the slots and parts looked at.
    template <class Pull, class Best>
    std::uint64_t search(const Pull& pull, Best& best) const {
        std::uint64_t evaluated = 0;
        if (best.admits(parts_.front().value)) look(0, 0, pull, best, evaluated);
        return evaluated;
    }

   private:
    static constexpr std::uint64_t worst = std::numeric_limits<std::uint64_t>::max();
    static constexpr std::uint32_t leaf_size = 8;

    struct Part {
        std::uint32_t begin, end;  // in order_
        std::uint32_t right;       // index of the second half; the first half is the next part; none: a leaf
        Value value;
        typename Space::Network::Region region;
    };

    [[nodiscard]] Value joint(std::uint32_t begin, std::uint32_t end) const {
        Value all = value_[begin];
        for (std::uint32_t i = begin + 1; i < end; ++i) all = Join{}(all, value_[i]);
        return all;
    }

    std::uint32_t build(const Space& space, const std::vector<typename Space::Network::Point>& network,
                        std::uint32_t begin, std::uint32_t end) {
        const auto me = static_cast<std::uint32_t>(parts_.size());
        const std::span part(network.data() + begin, end - begin);
        parts_.push_back({begin, end, no_index, joint(begin, end), space.network().region(part)});
        if (end - begin > leaf_size) {
            const std::uint32_t middle = begin + (end - begin) / 2;
            build(space, network, begin, middle);
            parts_[me].right = build(space, network, middle, end);
        }
        return me;
    }

    void update(std::uint32_t part, std::uint32_t at) {
        Part& p = parts_[part];
        if (p.right == no_index) {
            p.value = joint(p.begin, p.end);
            return;
        }
        update(at < parts_[p.right].begin ? part + 1 : p.right, at);
        p.value = Join{}(parts_[part + 1].value, parts_[p.right].value);
    }

    template <class Pull, class Best>
    void look(std::uint32_t part, std::uint64_t bound, const Pull& pull, Best& best,
              std::uint64_t& evaluated) const {
        const Part& p = parts_[part];
        if (!best.hopes(p.value, bound)) return;
        if (p.right == no_index) {
            evaluated += p.end - p.begin;
            for (std::uint32_t i = p.begin; i < p.end; ++i) {
                if (best.admits(value_[i])) best.offer(order_[i], value_[i], pull.cost(points_[i]));
            }
            return;
        }
        // Bounds are expensive, and many parts are full.
        const auto bound_of = [&](std::uint32_t half) {
            return best.admits(parts_[half].value) ? pull.bound(parts_[half].region) : worst;
        };
        std::uint32_t near = part + 1;
        std::uint32_t far = p.right;
        evaluated += 2;
        std::uint64_t near_bound = bound_of(near);
        std::uint64_t far_bound = bound_of(far);
        if (far_bound < near_bound) {
            std::swap(near, far);
            std::swap(near_bound, far_bound);
        }
        look(near, near_bound, pull, best, evaluated);
        look(far, far_bound, pull, best, evaluated);
    }

    std::vector<Position> order_;                // of the i-th slot along the order
    std::vector<std::uint32_t> index_in_order_;  // the inverse
    std::vector<typename Space::Point> points_;  // along the order
    std::vector<Value> value_;                   // along the order
    std::vector<Part> parts_;                    // depth first: a part, its first half, its second half
};

}  // namespace topoloom
