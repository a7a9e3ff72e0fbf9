// SPDX-License-Identifier: BSD-3-Clause
// Branch-and-bound search for the best slot of an allocation.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/machine/slot_space.hpp"
#include "topoloom/place/state/hilbert_slots.hpp"

namespace topoloom {

/// A tree over the slots of an allocation, which are identified by their position. Every node of the tree is
/// a part of the slots and stores the `Join` of their values, so that a search can prune whole parts. Memory
/// O(slots); set() O(log slots). Copies share the immutable data.
template <class Value, class Join>
class SlotTree {
   public:
    /// value_of(position) is the initial value of a slot.
    template <class ValueOf>
    SlotTree(const Allocation& allocation, const ValueOf& value_of)
        : slots_(std::make_shared<HilbertSlots>(allocation)), part_value_(slots_->parts().size()) {
        for (std::uint32_t i = 0; i < slots_->size(); ++i) value_.push_back(value_of(slots_->position(i)));
        for (std::size_t part = part_value_.size(); part-- > 0;) join(static_cast<std::uint32_t>(part));
    }

    [[nodiscard]] Value value(Position position) const { return value_[slots_->index(position)]; }
    void set(Position position, Value value) {
        const std::uint32_t at = slots_->index(position);
        value_[at] = value;
        update(0, at);
    }
    /// The sum of weighted distances to these slots and to `extra`.
    [[nodiscard]] std::unique_ptr<SlotSpace::DistanceSum> sum_distances(
        std::span<const Position> positions, std::span<const std::uint64_t> weights,
        std::optional<SlotSpace::WeightedSlot> extra = {}) const {
        std::vector<std::uint32_t> indices;
        indices.reserve(positions.size());
        for (const Position position : positions) indices.push_back(slots_->index(position));
        return slots_->space().sum_distances(indices, weights, extra);
    }

    /// The value of a sum at one slot.
    [[nodiscard]] std::uint64_t cost(const SlotSpace::DistanceSum& sum, Position position) const {
        return sum.at(slots_->index(position));
    }

    /// Offers slots to `best`, nearest parts first. best.is_candidate(value) tells whether a slot with this
    /// value, or a part with this joined value, is a candidate; best.can_improve(value, bound) tells whether
    /// one whose cost is at least `bound` could be better; best.offer(position, value, cost) stores the slot
    /// if it is better. Returns the number of slots and parts evaluated.
    template <class Best>
    std::uint64_t search(const SlotSpace::DistanceSum& sum, Best& best) const {
        std::uint64_t evaluated = 0;
        if (best.is_candidate(part_value_.front())) search_part(0, 0, sum, best, evaluated);
        return evaluated;
    }

   private:
    static constexpr std::uint64_t worst = std::numeric_limits<std::uint64_t>::max();

    /// Computes the value of a part from its halves or its slots.
    void join(std::uint32_t part) {
        const SlotSpace::Part& p = slots_->parts()[part];
        if (p.right != no_index) {
            part_value_[part] = Join{}(part_value_[part + 1], part_value_[p.right]);
            return;
        }
        Value all = value_[p.begin];
        for (std::uint32_t i = p.begin + 1; i < p.end; ++i) all = Join{}(all, value_[i]);
        part_value_[part] = all;
    }

    void update(std::uint32_t part, std::uint32_t at) {
        const auto parts = slots_->parts();
        const std::uint32_t right = parts[part].right;
        if (right != no_index) update(at < parts[right].begin ? part + 1 : right, at);
        join(part);
    }

    template <class Best>
    void search_part(std::uint32_t part, std::uint64_t bound, const SlotSpace::DistanceSum& sum, Best& best,
                     std::uint64_t& evaluated) const {
        if (!best.can_improve(part_value_[part], bound)) return;
        const SlotSpace::Part& p = slots_->parts()[part];
        if (p.right == no_index) {
            evaluated += p.end - p.begin;
            for (std::uint32_t i = p.begin; i < p.end; ++i) {
                if (best.is_candidate(value_[i])) best.offer(slots_->position(i), value_[i], sum.at(i));
            }
            return;
        }
        // Checked first, because bounds are expensive and many parts have no candidate.
        const auto bound_of = [&](std::uint32_t half) {
            return best.is_candidate(part_value_[half]) ? sum.bound(half) : worst;
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
        search_part(near, near_bound, sum, best, evaluated);
        search_part(far, far_bound, sum, best, evaluated);
    }

    std::shared_ptr<const HilbertSlots> slots_;
    std::vector<Value> value_;       // by index in the slot order: value of the slot
    std::vector<Value> part_value_;  // by part
};

}  // namespace topoloom
