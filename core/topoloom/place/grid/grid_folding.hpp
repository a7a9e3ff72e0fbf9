// SPDX-License-Identifier: BSD-3-Clause
// Folds a grid onto a torus or mesh: maps axes to axes, splits long axes over several machine axes, and lets
// short axes share one.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/pattern/recognize/grid_pattern.hpp"

namespace topoloom::grid {

/// An axis of the pattern. Its units are blocks: groups of ranks that share a router.
struct FoldedAxis {
    std::uint32_t extent;  // in blocks
    AxisKind kind;
    double bytes;  // bytes of the messages that leave their block along this axis
};

/// Which digits are reflected.
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

        /// The digit's value at coordinate x of its pattern axis. With `reflect`, values run backwards
        /// wherever the next higher digits are odd.
        [[nodiscard]] std::uint32_t value(std::uint32_t x, bool reflect) const {
            const std::uint32_t plain = x / below % size;
            return reflect && x / below / size % 2 == 1 ? size - 1 - plain : plain;
        }
    };

    std::vector<Digit> digits;  // digits of every pattern axis, from lowest to highest
    double score = 0;           // estimated hop-bytes with Reflection::rows

    /// Whether any machine axis carries several digits.
    [[nodiscard]] bool has_nested_digits() const;
    /// Whether every pattern axis lies undivided on a machine axis of its own. Then the score is exact for
    /// uniform patterns.
    [[nodiscard]] bool is_plain() const;

    /// Writes the machine coordinates of the block with these pattern coordinates.
    void locate_block(const Extents& block, Reflection reflection, Extents& coordinates) const;
};

/// Lists foldings that fit, best score first: scores at most `most` foldings and returns at most `keep`.
/// Empty if no digits fit the extents. Deterministic.
[[nodiscard]] std::vector<Folding> list_foldings(const std::vector<FoldedAxis>& axes, const Extents& extent,
                                                 const std::vector<bool>& wraps, std::size_t keep,
                                                 std::size_t most);

}  // namespace topoloom::grid
