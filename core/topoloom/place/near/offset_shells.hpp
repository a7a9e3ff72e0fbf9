// SPDX-License-Identifier: BSD-3-Clause
// The coordinate offsets of a torus or mesh, in the order of their length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace topoloom::near {

/// One axis of a torus or mesh: offsets from `low` to `high` lead to different routers.
struct AxisReach {
    std::int32_t low;
    std::int32_t high;
};

/// Shell r contains the offsets of length r, the sum of their absolute values. Stores about `count` offsets:
/// whole shells, but only a part of the last one if it is larger than all shells before it together.
class OffsetShells {
   public:
    OffsetShells(std::span<const AxisReach> axes, std::size_t count);

    /// The number of shells.
    [[nodiscard]] std::size_t size() const { return first_.size() - 1; }
    /// Index of the first offset of a shell; begin(size()) is the number of offsets.
    [[nodiscard]] std::size_t begin(std::size_t shell) const { return first_[shell]; }
    /// The steps along each axis.
    [[nodiscard]] const std::int16_t* offset(std::size_t index) const {
        return step_.data() + index * width_;
    }

   private:
    std::size_t width_;
    std::vector<std::int16_t> step_;  // [offset * axes + axis]
    std::vector<std::size_t> first_;  // by shell
};

}  // namespace topoloom::near
