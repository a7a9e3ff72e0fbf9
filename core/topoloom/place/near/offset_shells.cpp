// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/near/offset_shells.hpp"

#include <algorithm>

namespace topoloom::near {

namespace {

/// Appends the offsets of one length, in lexicographic order, until there are `most` values.
class ShellWriter {
   public:
    ShellWriter(std::span<const AxisReach> axes, std::size_t most, std::vector<std::int16_t>& out)
        : axes_(axes), most_(most), out_(out), step_(axes.size()), farthest_after_(axes.size() + 1) {
        for (std::size_t axis = axes.size(); axis-- > 0;)
            farthest_after_[axis] = farthest_after_[axis + 1] + std::max(-axes[axis].low, axes[axis].high);
    }

    [[nodiscard]] std::int32_t longest() const { return farthest_after_.front(); }

    void write(std::int32_t length) { write_from(0, length); }

   private:
    void write_from(std::size_t axis, std::int32_t length) {
        if (length > farthest_after_[axis] || out_.size() >= most_) return;
        if (axis == axes_.size()) {
            out_.insert(out_.end(), step_.begin(), step_.end());
            return;
        }
        const std::int32_t low = std::max(axes_[axis].low, -length);
        const std::int32_t high = std::min(axes_[axis].high, length);
        for (std::int32_t step = low; step <= high; ++step) {
            step_[axis] = static_cast<std::int16_t>(step);
            write_from(axis + 1, length - (step < 0 ? -step : step));
        }
    }

    std::span<const AxisReach> axes_;
    std::size_t most_;
    std::vector<std::int16_t>& out_;
    std::vector<std::int16_t> step_;
    std::vector<std::int32_t> farthest_after_;  // by axis: the length of the longest offset from it on
};

}  // namespace

OffsetShells::OffsetShells(std::span<const AxisReach> axes, std::size_t count)
    : width_(axes.size()), first_{0} {
    ShellWriter writer(axes, 2 * count * width_, step_);
    for (std::int32_t length = 0; length <= writer.longest() && first_.back() < count; ++length) {
        writer.write(length);
        first_.push_back(step_.size() / width_);
    }
}

}  // namespace topoloom::near
