// SPDX-License-Identifier: BSD-3-Clause
// A grid of ranks cut into boxes, one for every slot: the blocks of a block distribution in any dimension.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "topoloom/place/state/rank_grid.hpp"

namespace topoloom::grid {

/// Bytes, in both directions, across a plane between neighboring cells of an axis; and around, from its last cell to
/// its first.
struct PlaneBytes {
    double between;
    double around;

    /// Across all planes that this number of boxes along the axis cut.
    [[nodiscard]] double cut(std::uint32_t boxes) const {
        return boxes > 1 ? between * (boxes - 1.0) + around : 0;
    }
};
[[nodiscard]] std::vector<PlaneBytes> plane_bytes(const RankGrid& grid);

/// Which factors an axis may have.
enum class Factors { up_to, dividing };

/// Visits the factorizations of `product` into one factor per axis, each at most the axis's limit, or dividing it; in
/// lexicographic order, and at most 10^5 of them.
void for_each_factorization(std::uint64_t product, const Extents& limits, Factors kind,
                            const std::function<void(const Extents&)>& visit);

/// The same, each at most the axis's limit if there are such factorizations, else without limits.
void for_each_filling(std::uint64_t product, const Extents& limits,
                      const std::function<void(const Extents&)>& visit);

/// Boxes along every axis, `count` in all, that cut the fewest bytes; with no more boxes than cells on any axis, if
/// there is such a factorization.
[[nodiscard]] Extents boxes_of_least_surface(const RankGrid& grid, std::uint64_t count);

/// Every rank on the slot of its box; boxes are numbered row-major. Boxes differ by at most one layer on every axis;
/// where so equal boxes do not fit into the slots' capacities, they are cut at equal loads instead, with borders that
/// have steps, and then repaired. O(ranks log ranks). None if the ranks do not fit even so.
[[nodiscard]] std::optional<Placement> place_in_boxes(const Problem& problem, const RankGrid& grid,
                                                      const Extents& boxes,
                                                      std::span<const Slot> slot_of_box);

}  // namespace topoloom::grid
