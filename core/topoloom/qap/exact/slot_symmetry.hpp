// SPDX-License-Identifier: BSD-3-Clause
// Symmetries of slots under automorphisms of the distance matrix.
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

    /// For every slot, the smallest slot of its orbit under automorphisms that fix `fixed`. Slots also count as
    /// different if the test takes too long.
    [[nodiscard]] std::vector<Position> orbits(std::span<const Position> fixed) const;

   private:
    class Search;
    std::uint32_t slots_;
    std::span<const std::int64_t> distances_;
};

}  // namespace topoloom::qap
