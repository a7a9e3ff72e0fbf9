// SPDX-License-Identifier: BSD-3-Clause
// A grid folded onto a torus or mesh: axes assigned to axes, long ones split over several, short ones sharing one.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/pattern/recognize/grid_pattern.hpp"

namespace topoloom::grid {

/// An axis of the pattern, in blocks of ranks that share a router.
struct FoldedAxis {
    std::uint32_t extent;  // in blocks
    AxisKind kind;
    double bytes;  // of all messages that leave their block along this axis
};

/// Which digits are reflected.
enum class Reflection : std::uint8_t {
    none,
    rows,  ///< each digit where the next higher of its pattern axis is odd, so that a step changes one digit by one
    nested,  ///< also all digits inside an odd one on their machine axis, as in Gray codes
};

/// Every axis of the pattern is written in digits, each of which lies on an axis of the machine; several digits on one
/// machine axis are nested.
class Folding {
   public:
    struct Digit {
        std::uint32_t pattern_axis;
        std::uint32_t machine_axis;
        std::uint32_t size;
        std::uint32_t below = 1;   // product of the lower digits of its pattern axis
        std::uint32_t stride = 1;  // product of the digits nested inside it on its machine axis

        /// At coordinate x of its pattern axis; with `reflect` backwards in every other row of the digits above.
        [[nodiscard]] std::uint32_t value(std::uint32_t x, bool reflect) const {
            const std::uint32_t plain = x / below % size;
            return reflect && x / below / size % 2 == 1 ? size - 1 - plain : plain;
        }
    };

    std::vector<Digit> digits;  // of every pattern axis from the lowest to the highest
    double score = 0;           // estimated hop-bytes, with rows reflected

    /// Whether a machine axis holds several digits.
    [[nodiscard]] bool nests() const;
    /// Whether every axis lies whole on a machine axis of its own. The score is then exact for uniform patterns.
    [[nodiscard]] bool is_plain() const;

    /// Position on every machine axis of the block at these coordinates.
    void place(const Extents& block, Reflection reflection, Extents& coordinates) const;
};

/// Foldings that fit, the most promising first: at most `keep` of them, out of `most` that are looked at. Empty
/// if extents do not divide suitably. Deterministic.
[[nodiscard]] std::vector<Folding> list_foldings(const std::vector<FoldedAxis>& axes, const Extents& extent,
                                                 const std::vector<bool>& wraps, std::size_t keep,
                                                 std::size_t most);

}  // namespace topoloom::grid
