// SPDX-License-Identifier: BSD-3-Clause
// Places that a search need not distinguish, since all distances stay what they are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/id.hpp"

namespace topoloom::qap {

/// Automorphisms of a distance matrix: of a torus its translations and reflections, of a tree exchanges of siblings.
class SlotSymmetry {
   public:
    /// Row-major, need not be symmetric. Refers to the matrix.
    SlotSymmetry(std::size_t slots, std::span<const std::int64_t> distances)
        : slots_(static_cast<std::uint32_t>(slots)), distances_(distances) {}

    /// For every slot the least one that some automorphism moves it to, of those that leave `fixed` where they are. Two
    /// slots count as different, too, where finding out takes too long.
    [[nodiscard]] std::vector<Position> orbits(std::span<const Position> fixed) const;

   private:
    class Search;
    std::uint32_t slots_;
    std::span<const std::int64_t> distances_;
};

}  // namespace topoloom::qap
