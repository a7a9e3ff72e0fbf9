// SPDX-License-Identifier: BSD-3-Clause
// Positions on a ring that are joined over distances 1, 1, 3, 5, 11, ...: the shape of Bine trees and butterflies.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace topoloom {

/// A power of two of positions. In step n even positions meet the odd ones 1 - 2 + 4 - ... +- 2^(n-1) further, all numbers
/// negabinary with n ones. Whom steps 1, ..., n join are 2^n neighbors on the ring. The tree of position 0 is reached over
/// the same steps, the last one first. Source: D. De Sensi et al., Bine Trees: Enhancing Collective Operations by Optimizing
/// Communication Locality, SC 2025.
class BineRing {
   public:
    explicit BineRing(std::size_t count)
        : count_(count), steps_(static_cast<std::uint64_t>(std::bit_width(count) - 1)) {}

    [[nodiscard]] std::uint64_t steps() const { return steps_; }
    /// Whom a position meets in a step from 1 on.
    [[nodiscard]] std::size_t partner(std::size_t position, std::uint64_t step) const {
        const std::size_t power = std::size_t{1} << step;
        const std::size_t distance = step % 2 == 1 ? (power + 1) / 3 : (power - 1) / 3;
        const bool forward = (position + step) % 2 == 1;
        return wrapped(forward ? position + distance : position + count_ - distance);
    }
    /// The first of the 2^step positions that are joined with this one after a step.
    [[nodiscard]] std::size_t first(std::size_t position, std::uint64_t step) const {
        return wrapped(position + count_ - (position % 2 == 0 ? before(step) : after(step)));
    }
    /// In how many steps a position takes part in the tree of position 0: from step 1 on; it is reached in the last of them.
    /// Position 0, which has all from the start, takes part in one more than there are.
    [[nodiscard]] std::uint64_t in_tree(std::size_t position) const {
        if (position == 0) return steps_ + 1;
        // Those that take part in step n are 0, or 1/3, modulo 2^n.
        const auto shared = std::countr_zero(position % 2 == 0 ? position : 3 * position - 1);
        return std::min(static_cast<std::uint64_t>(shared), steps_);
    }
    /// The positions that are joined with an even one after a step and lie before it, and those after it.
    [[nodiscard]] static std::size_t before(std::uint64_t step) {
        return ((std::size_t{1} << (step & ~std::uint64_t{1})) - 1) / 3 * 2;
    }
    [[nodiscard]] static std::size_t after(std::uint64_t step) {
        return (std::size_t{1} << step) - 1 - before(step);
    }
    /// Calls visit(first, count) for a range of positions that may wrap: one or two that do not.
    template <class Visit>
    void each_range(std::size_t first, std::size_t count, const Visit& visit) const {
        const std::size_t before_end = std::min(count, count_ - first);
        visit(first, before_end);
        if (before_end < count) visit(std::size_t{0}, count - before_end);
    }
    [[nodiscard]] std::size_t wrapped(std::size_t position) const { return position & (count_ - 1); }

   private:
    std::size_t count_;
    std::uint64_t steps_;
};

}  // namespace topoloom
