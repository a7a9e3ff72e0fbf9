// SPDX-License-Identifier: BSD-3-Clause
// The free slots of an allocation: which of them is best for a rank.
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

/// Slots are named by their position in the allocation. All are free at first. Take and release O(log slots).
class FreeSlots {
   public:
    struct Found {
        Position position = Position::none;
        std::uint64_t cost = std::numeric_limits<std::uint64_t>::max();
        std::uint64_t evaluated = 0;  // slots and parts looked at
    };
    /// The partners that attract a rank: weighted slots by position, and optionally one that need not be allocated.
    struct Partners {
        std::span<const Position> positions;
        std::span<const std::uint64_t> weights;
        std::optional<Slot> origin{};
        std::uint64_t origin_weight = 0;
    };

    /// Keeps a reference to the allocation's machine. Copies share the immutable part.
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

    /// The free slot with the least sum of weighted distances; among equals the one that comes first in the allocation.
    [[nodiscard]] Found nearest(const Partners& partners) const;

   private:
    /// Joins two parts: the first free slot of both.
    struct First {
        Position operator()(Position a, Position b) const { return std::min(a, b); }
    };

    SlotTree<Position, First> tree_;
    std::size_t free_;
};

}  // namespace topoloom
