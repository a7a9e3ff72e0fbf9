// SPDX-License-Identifier: BSD-3-Clause
// Finds the free slot closest to the centroid of some slots, by node coordinates.
#pragma once

#include <cstddef>
#include <vector>

#include "topoloom/place/state/free_slots.hpp"

namespace topoloom::greedy {

/// Along a line the centroid is the weighted mean; along a ring the point with the least weighted sum of squared
/// distances. Closest is what has the least sum of distances to it over the axes; among equals the first in the
/// allocation.
class Centroid {
   public:
    /// Nodes must have coordinates.
    explicit Centroid(const Allocation& allocation);

    /// By positions and weights only. O(slots).
    [[nodiscard]] FreeSlots::Found nearest(const FreeSlots& free, const FreeSlots::Partners& partners) const;

   private:
    [[nodiscard]] double along(std::size_t axis, const FreeSlots::Partners& partners, double weight) const;
    [[nodiscard]] double at(std::size_t position, std::size_t axis) const {
        return coordinate_[position * extent_.size() + axis];
    }

    std::vector<double> extent_;  // by axis
    std::vector<bool> wraps_;
    std::vector<double> coordinate_;  // by position, then axis
};

}  // namespace topoloom::greedy
