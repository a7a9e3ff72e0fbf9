// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/grid/grid_folding.hpp"

#include <algorithm>
#include <numeric>

namespace topoloom::grid {

namespace {

using Digit = Folding::Digit;

class FoldingSearch {
   public:
    FoldingSearch(const std::vector<FoldedAxis>& axes, const Extents& extent, const std::vector<bool>& wraps,
                  std::size_t keep, std::size_t most)
        : axes_(axes),
          extent_(extent),
          wraps_(wraps),
          keep_(keep),
          left_(most),
          steps_(64 * most),
          capacity_(extent.size() + 1, 1) {
        for (const FoldedAxis& axis : axes) rest_.push_back(axis.extent);
        for (std::size_t j = extent.size(); j-- > 0;) capacity_[j] = capacity_[j + 1] * extent[j];
    }

    std::vector<Folding> run() {
        choose_digits(0, 0, extent_.empty() ? 1 : extent_[0]);
        sort_best();
        return std::move(found_);
    }

   private:
    /// Chooses the digits of pattern axis i and later ones on machine axis j. The product of their sizes is
    /// at most `free`.
    void choose_digits(std::size_t j, std::size_t i, std::uint32_t free) {
        if (left_ == 0 || steps_ == 0) return;
        --steps_;
        if (j == extent_.size()) {
            const bool all = std::all_of(rest_.begin(), rest_.end(), [](std::uint32_t r) { return r == 1; });
            if (all) complete_folding();
            return;
        }
        if (i == axes_.size()) {
            std::uint64_t blocks = 1;
            for (const std::uint32_t r : rest_) blocks *= r;
            if (blocks <= capacity_[j + 1])
                choose_digits(j + 1, 0, j + 1 < extent_.size() ? extent_[j + 1] : 1);
            return;
        }
        const std::uint32_t rest = rest_[i];
        for (std::uint32_t size = std::min(rest, free); size >= 1; --size) {
            if (rest % size != 0) continue;
            if (size > 1) {
                chosen_.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j), size});
            }
            rest_[i] = rest / size;
            choose_digits(j, i + 1, free / size);
            rest_[i] = rest;
            if (size > 1) chosen_.pop_back();
        }
    }

    /// Turns a choice of digits into foldings: tries several orders of the digits of every pattern axis.
    void complete_folding() {
        for (std::uint32_t order = 0; order < 6 && left_ > 0; ++order) {
            --left_;
            Folding folding;
            bool is_new = order == 0;
            for (std::uint32_t i = 0; i < axes_.size(); ++i) {
                std::vector<Digit> own;
                for (const Digit& digit : chosen_) {
                    if (digit.pattern_axis == i) own.push_back(digit);
                }
                is_new = permute_digits(own, order) || is_new;
                std::uint32_t below = 1;
                for (Digit& digit : own) {
                    digit.below = below;
                    below *= digit.size;
                    folding.digits.push_back(digit);
                }
            }
            if (!is_new) break;
            nest_digits(folding);
            folding.score = score(folding);
            found_.push_back(std::move(folding));
            if (found_.size() >= 4 * keep_ + 64) sort_best();
        }
    }

    /// Applies permutation number `order` to up to three digits. Returns false if a lower number gave the
    /// same permutation.
    static bool permute_digits(std::vector<Digit>& digits, std::uint32_t order) {
        if (digits.size() == 2) {
            if (order % 2 == 1) std::swap(digits[0], digits[1]);
            return order < 2;
        }
        if (digits.size() < 3) return false;
        const auto turn = static_cast<std::ptrdiff_t>(order % 3);
        std::rotate(digits.begin(), digits.begin() + turn, digits.begin() + 3);
        if (order >= 3) std::swap(digits[0], digits[1]);
        return true;
    }

    /// Bytes of the messages along the digit's pattern axis between blocks that differ in this digit.
    [[nodiscard]] double digit_traffic(const Digit& digit) const {
        const FoldedAxis& axis = axes_[digit.pattern_axis];
        const double q = axis.extent;
        if (axis.kind == AxisKind::clique) return axis.bytes * (digit.size - 1) / digit.size;
        const double changes = q / digit.below - q / digit.below / digit.size;
        return axis.bytes * changes / (q - (axis.kind == AxisKind::ring ? 0 : 1));
    }

    /// Nests the digits of every machine axis, those with the most traffic innermost.
    void nest_digits(Folding& folding) const {
        for (std::uint32_t j = 0; j < extent_.size(); ++j) {
            std::vector<std::size_t> here;
            for (std::size_t k = 0; k < folding.digits.size(); ++k) {
                if (folding.digits[k].machine_axis == j) here.push_back(k);
            }
            // Each digit multiplies the strides of all digits outside it by its size, so large digits cost
            // more inside.
            const auto pull = [&](std::size_t k) {
                return digit_traffic(folding.digits[k]) / (folding.digits[k].size - 1.0);
            };
            std::stable_sort(here.begin(), here.end(),
                             [&](std::size_t a, std::size_t b) { return pull(a) > pull(b); });
            std::uint32_t stride = 1;
            for (const std::size_t k : here) {
                folding.digits[k].stride = stride;
                stride *= folding.digits[k].size;
            }
        }
    }

    [[nodiscard]] bool closes_ring(const Digit& digit) const {
        return wraps_[digit.machine_axis] && digit.size * digit.stride == extent_[digit.machine_axis];
    }

    [[nodiscard]] double score(const Folding& folding) const {
        double sum = 0;
        for (const Digit& digit : folding.digits) {
            const FoldedAxis& axis = axes_[digit.pattern_axis];
            const double g = digit.size;
            if (axis.kind == AxisKind::clique) {
                const double mean = closes_ring(digit) ? g / 4 : (g * g - 1) / (3 * g);
                sum += axis.bytes * mean * digit.stride * axis.extent / (axis.extent - 1.0);
                continue;
            }
            sum += digit_traffic(digit) * digit.stride;
            if (axis.kind == AxisKind::ring) {
                const std::uint32_t last = digit.value(axis.extent - 1, true);
                const std::uint32_t back = closes_ring(digit) ? std::min(last, digit.size - last) : last;
                sum += axis.bytes / axis.extent * back * digit.stride;
            }
        }
        return sum;
    }

    void sort_best() {
        std::stable_sort(found_.begin(), found_.end(),
                         [](const Folding& a, const Folding& b) { return a.score < b.score; });
        if (found_.size() > keep_) found_.resize(keep_);
    }

    const std::vector<FoldedAxis>& axes_;
    const Extents& extent_;
    const std::vector<bool>& wraps_;
    std::size_t keep_;
    std::size_t left_;                     // number of foldings that may still be scored
    std::size_t steps_;                    // choices that may still be made; most choices fail
    std::vector<std::uint64_t> capacity_;  // by machine axis j: product of the extents from j on
    Extents rest_;                         // by pattern axis: the factor that no digit covers yet
    std::vector<Digit> chosen_;
    std::vector<Folding> found_;
};

}  // namespace

bool Folding::has_nested_digits() const {
    return std::any_of(digits.begin(), digits.end(), [](const Digit& digit) { return digit.stride > 1; });
}

bool Folding::is_plain() const {
    for (std::size_t k = 1; k < digits.size(); ++k) {
        if (digits[k].pattern_axis == digits[k - 1].pattern_axis) return false;
    }
    return !has_nested_digits();
}

void Folding::locate_block(const Extents& block, Reflection reflection, Extents& coordinates) const {
    const bool reflect = reflection != Reflection::none;
    std::fill(coordinates.begin(), coordinates.end(), 0U);
    for (const Digit& digit : digits) {
        coordinates[digit.machine_axis] += digit.stride * digit.value(block[digit.pattern_axis], reflect);
    }
    if (reflection != Reflection::nested) return;
    // Reflects the position p on each machine axis, digit by digit from the outermost: an odd digit reverses
    // all digits inside it.
    for (const Digit& outer : digits) {
        if (outer.stride == 1) continue;
        std::uint32_t& p = coordinates[outer.machine_axis];
        const std::uint32_t inner = p % outer.stride;
        const bool odd = outer.value(block[outer.pattern_axis], true) % 2 == 1;
        if (odd) p = p - inner + (outer.stride - 1 - inner);
    }
}

std::vector<Folding> list_foldings(const std::vector<FoldedAxis>& axes, const Extents& extent,
                                   const std::vector<bool>& wraps, std::size_t keep, std::size_t most) {
    return FoldingSearch(axes, extent, wraps, keep, most).run();
}

}  // namespace topoloom::grid
