// SPDX-License-Identifier: BSD-3-Clause
// The free slots of an allocation: which of them is best for a rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "topoloom/base/id.hpp"
#include "topoloom/place/state/slot_tree.hpp"

namespace topoloom {

/// Slots are named by their position in the allocation. All are free at first. Take and release O(log slots).
template <class Space>
class FreeSlots {
   public:
    struct Found {
        std::uint32_t position = no_index;
        std::uint64_t cost = std::numeric_limits<std::uint64_t>::max();
        std::uint64_t evaluated = 0;  // slots and parts looked at
    };

    FreeSlots(const Space& space, const Allocation& allocation)
        : tree_(space, allocation, [](std::uint32_t position) { return position; }),
          free_(allocation.slot_count()) {}

    [[nodiscard]] std::size_t count() const { return free_; }
    [[nodiscard]] bool is_free(std::uint32_t position) const { return tree_.value(position) != no_index; }
    void take(std::uint32_t position) {
        tree_.set(position, no_index);
        --free_;
    }
    void release(std::uint32_t position) {
        tree_.set(position, position);
        ++free_;
    }

    /// The free slot of least pull.cost(point); among equals the one that comes first in the allocation.
    template <class Pull>
    [[nodiscard]] Found nearest(const Pull& pull) const {
        Best best;
        best.found.evaluated = tree_.search(pull, best);
        return best.found;
    }

   private:
    /// Of a part, the first free slot.
    struct First {
        std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return std::min(a, b); }
    };
    struct Best {
        Found found;

        [[nodiscard]] static bool admits(std::uint32_t first) { return first != no_index; }
        [[nodiscard]] bool hopes(std::uint32_t first, std::uint64_t bound) const {
            return admits(first) && (bound < found.cost || (bound == found.cost && first < found.position));
        }
        void offer(std::uint32_t position, std::uint32_t, std::uint64_t cost) {
            if (!hopes(position, cost)) return;
            found.position = position;
            found.cost = cost;
        }
    };

    SlotTree<Space, std::uint32_t, First> tree_;
    std::size_t free_;
};

}  // namespace topoloom
