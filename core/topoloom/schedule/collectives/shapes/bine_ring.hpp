// SPDX-License-Identifier: BSD-3-Clause
// The ring of Bine trees and butterflies: positions are joined over distances 1, 1, 3, 5, 11, ....
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace topoloom {

/// The number of positions is a power of two. In step n every even position is paired with the odd position
/// at distance 1 - 2 + 4 - ... +- 2^(n-1), the negabinary number with n ones. Steps 1, ..., n join groups of
/// 2^n adjacent positions. The tree of position 0 uses the same steps in reverse. Source: D. De Sensi et al.,
/// Bine Trees: Enhancing Collective Operations by Optimizing Communication Locality, SC 2025.
class BineRing {
   public:
    explicit BineRing(std::size_t count)
        : count_(count), steps_(static_cast<std::uint64_t>(std::bit_width(count) - 1)) {}

    [[nodiscard]] std::uint64_t steps() const { return steps_; }
    /// The partner of a position in a step; steps count from 1.
    [[nodiscard]] std::size_t partner(std::size_t position, std::uint64_t step) const {
        const std::size_t power = std::size_t{1} << step;
        const std::size_t distance = step % 2 == 1 ? (power + 1) / 3 : (power - 1) / 3;
        const bool forward = (position + step) % 2 == 1;
        return wrap_position(forward ? position + distance : position + count_ - distance);
    }
    /// The first of the 2^step positions that are joined with this position after a step.
    [[nodiscard]] std::size_t first_joined(std::size_t position, std::uint64_t step) const {
        return wrap_position(position + count_ -
                             (position % 2 == 0 ? count_before(step) : count_after(step)));
    }
    /// In how many of the steps 1, 2, ... a position takes part in the tree of position 0. The position
    /// receives the data in the last of them. Position 0, which has the data from the start, returns steps()
    /// + 1.
    [[nodiscard]] std::uint64_t last_tree_step(std::size_t position) const {
        if (position == 0) return steps_ + 1;
        // A position takes part in step n if it is 0 (even) or 1/3 (odd) modulo 2^n.
        const auto shared = std::countr_zero(position % 2 == 0 ? position : 3 * position - 1);
        return std::min(static_cast<std::uint64_t>(shared), steps_);
    }
    /// Number of positions before an even position that are joined with it after a step; count_after() counts
    /// those after it.
    [[nodiscard]] static std::size_t count_before(std::uint64_t step) {
        return ((std::size_t{1} << (step & ~std::uint64_t{1})) - 1) / 3 * 2;
    }
    [[nodiscard]] static std::size_t count_after(std::uint64_t step) {
        return (std::size_t{1} << step) - 1 - count_before(step);
    }
    /// Calls visit(first, count) for a range of positions; a range that wraps is split in two.
    template <class Visit>
    void each_range(std::size_t first, std::size_t count, const Visit& visit) const {
        const std::size_t before_end = std::min(count, count_ - first);
        visit(first, before_end);
        if (before_end < count) visit(std::size_t{0}, count - before_end);
    }
    [[nodiscard]] std::size_t wrap_position(std::size_t position) const { return position & (count_ - 1); }

   private:
    std::size_t count_;
    std::uint64_t steps_;
};

}  // namespace topoloom
