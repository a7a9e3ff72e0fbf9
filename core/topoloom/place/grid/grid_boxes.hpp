// SPDX-License-Identifier: BSD-3-Clause
// Cuts a rank grid into one box per slot: a block distribution in any dimension.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "topoloom/place/state/rank_grid.hpp"

namespace topoloom::grid {

/// Bytes that cross a plane perpendicular to an axis, in both directions together. `between`: between
/// neighboring cells. `around`: between the last and first cells of the axis.
struct PlaneBytes {
    double between;
    double around;

    /// Bytes across all planes, if they cut the axis into this number of boxes.
    [[nodiscard]] double cut_bytes(std::uint32_t boxes) const {
        return boxes > 1 ? between * (boxes - 1.0) + around : 0;
    }
};
[[nodiscard]] std::vector<PlaneBytes> count_plane_bytes(const RankGrid& grid);

/// The factors that an axis may have: all up to its limit, or only divisors of its limit.
enum class FactorRule { up_to, dividing };

/// Visits the factorizations of `product` into one allowed factor per axis, in lexicographic order; at most
/// 10^5 of them.
void for_each_factorization(std::uint64_t product, const Extents& limits, FactorRule kind,
                            const std::function<void(const Extents&)>& visit);

/// Visits the factorizations of `product` whose factors are within the axis limits; if there are none, all
/// factorizations.
void for_each_box_shape(std::uint64_t product, const Extents& limits,
                        const std::function<void(const Extents&)>& visit);

/// The numbers of boxes along the axes, `count` boxes in total, that cut the fewest bytes. If possible, no
/// axis has more boxes than cells.
[[nodiscard]] Extents boxes_of_least_surface(const RankGrid& grid, std::uint64_t count);

/// Puts every rank on the slot of its box; boxes are numbered row-major. Boxes differ by at most one layer
/// per axis. If these boxes exceed the capacities of slots, cuts the grid at equal loads instead, which gives
/// stepped borders, and moves ranks until they fit. None if they still do not fit. O(ranks log ranks).
[[nodiscard]] std::optional<Placement> place_in_boxes(const Problem& problem, const RankGrid& grid,
                                                      const Extents& boxes,
                                                      std::span<const Slot> slot_of_box);

}  // namespace topoloom::grid
