// SPDX-License-Identifier: BSD-3-Clause
// Folds a grid onto a torus or mesh: maps axes to axes, splits long axes over several, and lets short ones
// share one.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/pattern/recognize/grid_pattern.hpp"

namespace topoloom::grid {

/// An axis of the pattern, in blocks of ranks that share a router.
struct FoldedAxis {
    std::uint32_t extent;  // in blocks
    AxisKind kind;
    double bytes;  // bytes of the messages that leave their block along this axis
};

/// The digits that are reflected.
enum class Reflection : std::uint8_t {
    none,
    rows,    ///< each digit below an odd digit of its pattern axis, so that a step changes one digit by one
    nested,  ///< also all digits inside an odd digit of their machine axis, as in Gray codes
};

/// A mixed-radix representation of the pattern axes. Each digit lies on one machine axis; several digits on
/// the same machine axis are nested.
class Folding {
   public:
    struct Digit {
        std::uint32_t pattern_axis;
        std::uint32_t machine_axis;
        std::uint32_t size;
        std::uint32_t below = 1;   // product of the lower digits' sizes on its pattern axis
        std::uint32_t stride = 1;  // product of the inner digits' sizes on its machine axis

        /// The digit at coordinate x of its pattern axis. `reflect` reverses it in every other row of the
        /// higher digits.
        [[nodiscard]] std::uint32_t value(std::uint32_t x, bool reflect) const {
            const std::uint32_t plain = x / below % size;
            return reflect && x / below / size % 2 == 1 ? size - 1 - plain : plain;
        }
    };

    std::vector<Digit> digits;  // digits of every pattern axis, from lowest to highest
    double score = 0;           // estimated hop-bytes with Reflection::rows

    /// Whether a machine axis contains several digits.
    [[nodiscard]] bool has_nested_digits() const;
    /// Whether every pattern axis lies undivided on a separate machine axis. The score is then exact for
    /// uniform patterns.
    [[nodiscard]] bool is_plain() const;

    /// Computes the machine coordinates of the block with these pattern coordinates.
    void locate_block(const Extents& block, Reflection reflection, Extents& coordinates) const;
};

/// Lists foldings that fit, best estimate first: scores at most `most` foldings and returns at most `keep`.
/// Empty if the extents do not divide. Deterministic.
[[nodiscard]] std::vector<Folding> list_foldings(const std::vector<FoldedAxis>& axes, const Extents& extent,
                                                 const std::vector<bool>& wraps, std::size_t keep,
                                                 std::size_t most);

}  // namespace topoloom::grid
