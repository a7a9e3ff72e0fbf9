// SPDX-License-Identifier: BSD-3-Clause
// Cuts a rank grid into one box per slot: a block distribution in any dimension.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "topoloom/place/state/rank_grid.hpp"

namespace topoloom::grid {

/// Bytes in both directions across a plane: `between` neighboring cells of an axis, and `around` from the
/// last cell of the axis to the first.
struct PlaneBytes {
    double between;
    double around;

    /// Bytes across all planes that cut the axis into this number of boxes.
    [[nodiscard]] double cut_bytes(std::uint32_t boxes) const {
        return boxes > 1 ? between * (boxes - 1.0) + around : 0;
    }
};
[[nodiscard]] std::vector<PlaneBytes> count_plane_bytes(const RankGrid& grid);

/// The factors that are allowed on an axis: up to its limit, or divisors of its limit.
enum class FactorRule { up_to, dividing };

/// Visits the factorizations of `product` into one factor per axis, in lexicographic order, at most 10^5 of
/// them.
void for_each_factorization(std::uint64_t product, const Extents& limits, FactorRule kind,
                            const std::function<void(const Extents&)>& visit);

/// Visits the factorizations with factors up to the axis limits; if there are none, all factorizations.
void for_each_box_shape(std::uint64_t product, const Extents& limits,
                        const std::function<void(const Extents&)>& visit);

/// Boxes along every axis, `count` in total, that cut the fewest bytes; if possible, with at most as many
/// boxes as cells per axis.
[[nodiscard]] Extents boxes_of_least_surface(const RankGrid& grid, std::uint64_t count);

/// Puts every rank on the slot of its box; boxes are numbered row-major. Boxes differ by at most one layer
/// per axis. If these boxes exceed the capacities of slots, the grid is cut at equal loads instead, with
/// stepped borders, and then repaired. None if the ranks still do not fit. O(ranks log ranks).
[[nodiscard]] std::optional<Placement> place_in_boxes(const Problem& problem, const RankGrid& grid,
                                                      const Extents& boxes,
                                                      std::span<const Slot> slot_of_box);

}  // namespace topoloom::grid
