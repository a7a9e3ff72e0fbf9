// SPDX-License-Identifier: BSD-3-Clause
// Symmetries of slots under automorphisms of the distance matrix.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/id.hpp"

namespace topoloom::qap {

/// Automorphisms of a distance matrix, such as translations and reflections of a torus, or exchanges of
/// siblings in a tree.
class SlotSymmetry {
   public:
    /// The matrix is row-major and can be asymmetric. Refers to the matrix.
    SlotSymmetry(std::size_t slots, std::span<const std::int64_t> distances)
        : slots_(static_cast<std::uint32_t>(slots)), distances_(distances) {}

    /// Returns, for every slot, the smallest slot of its orbit under automorphisms that map each slot of
    /// `fixed` to itself. If the test of two slots takes too long, they are considered different.
    [[nodiscard]] std::vector<Position> orbits(std::span<const Position> fixed) const;

   private:
    class Search;
    std::uint32_t slots_;
    std::span<const std::int64_t> distances_;
};

}  // namespace topoloom::qap
