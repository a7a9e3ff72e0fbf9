// SPDX-License-Identifier: BSD-3-Clause
// The free slots of an allocation, and a search for the best free slot for a rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "topoloom/base/id.hpp"
#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/place/state/slot_tree.hpp"

namespace topoloom {

/// A set of free slots, identified by their position in the allocation. Initially all are free. take() and
/// release() cost O(log slots).
class FreeSlots {
   public:
    struct Found {
        Position position = Position::none;
        std::uint64_t cost = std::numeric_limits<std::uint64_t>::max();
        std::uint64_t evaluated = 0;  // number of slots and parts evaluated
    };
    /// The slots of a rank's partners: their positions and weights, and optionally one more slot, which may
    /// be outside the allocation.
    struct WeightedPartners {
        std::span<const Position> positions;
        std::span<const std::uint64_t> weights;
        std::optional<Slot> origin{};
        std::uint64_t origin_weight = 0;
    };

    /// Refers to the allocation's machine. Copies share the immutable part.
    explicit FreeSlots(const Allocation& allocation);

    [[nodiscard]] std::size_t count() const { return free_; }
    [[nodiscard]] bool is_free(Position position) const { return tree_.value(position) != Position::none; }
    void take(Position position) {
        tree_.set(position, Position::none);
        --free_;
    }
    void release(Position position) {
        tree_.set(position, position);
        ++free_;
    }

    /// The free slot with the smallest sum of weighted distances; ties go to the first in the allocation.
    [[nodiscard]] Found find_nearest(const WeightedPartners& partners) const;

   private:
    /// Joins the values of two parts: selects the first free slot of both.
    struct FirstFreeSlot {
        Position operator()(Position a, Position b) const { return std::min(a, b); }
    };

    SlotTree<Position, FirstFreeSlot> tree_;
    std::size_t free_;
};

}  // namespace topoloom
