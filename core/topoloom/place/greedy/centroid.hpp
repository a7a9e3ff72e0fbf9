// SPDX-License-Identifier: BSD-3-Clause
// Finds the free slot closest to the weighted centroid of occupied slots, by node coordinates.
#pragma once

#include <cstddef>
#include <vector>

#include "topoloom/place/state/free_slots.hpp"

namespace topoloom::greedy {

/// Along a line, the centroid is the weighted mean; along a ring, it is the point with the smallest weighted
/// sum of squared distances. The closest slot is the one whose distances to the centroid, summed over the
/// axes, are smallest; ties go to the first in the allocation.
class Centroid {
   public:
    /// Requires that nodes have coordinates.
    explicit Centroid(const Allocation& allocation);

    /// Uses only the positions and weights of `partners`. O(slots).
    [[nodiscard]] FreeSlots::Found find_nearest(const FreeSlots& free,
                                                const FreeSlots::WeightedPartners& partners) const;

   private:
    [[nodiscard]] double weighted_centroid(std::size_t axis, const FreeSlots::WeightedPartners& partners,
                                           double weight) const;
    [[nodiscard]] double coordinate_of(std::size_t position, std::size_t axis) const {
        return coordinate_[position * extent_.size() + axis];
    }

    std::vector<double> extent_;  // by axis
    std::vector<bool> wraps_;
    std::vector<double> coordinate_;  // coordinates by position, then axis
};

}  // namespace topoloom::greedy
