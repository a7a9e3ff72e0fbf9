// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/grid/box_blocking.hpp"

#include <limits>
#include <numeric>

namespace topoloom::grid {

namespace {

constexpr std::uint32_t no_cut = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t cut_bits = 24;
constexpr std::uint32_t max_extent = 1U << cut_bits;

/// Number of partner pairs along an axis that a cut at `cut_at` separates; each pair counts once.
double count_cut_pairs(const PatternAxis& axis, std::uint32_t extent, std::uint32_t cut_at) {
    switch (axis.kind) {
        case AxisKind::path:
            return 1;
        case AxisKind::ring:
            return extent == axis.extent ? 2 : 1;
        case AxisKind::clique:
            return static_cast<double>(cut_at) * (extent - cut_at);
        case AxisKind::apart:
            break;
    }
    return 0;
}

}  // namespace

BoxBlocking::BoxBlocking(const GridPattern& pattern, std::vector<GroupLevel> levels)
    : pattern_(pattern), levels_(std::move(levels)), stride_(strides_of(pattern.axes)) {
    std::uint64_t size = 1;
    for (const GroupLevel& level : levels_) {
        size_.push_back(size);
        size *= level.arity;
    }
    size_.push_back(size);
    known_.resize(levels_.size());
}

std::size_t BoxBlocking::index(const Box& box) const {
    std::size_t at = 0;
    for (std::size_t i = 0; i < box.size(); ++i) at += std::size_t{box[i] - 1} * stride_[i];
    return at;
}

std::uint64_t BoxBlocking::volume(const Box& box) const {
    std::uint64_t cells = 1;
    for (const std::uint32_t extent : box) cells *= extent;
    return cells;
}

double BoxBlocking::bytes_per_pair(const Box& box, std::size_t axis) const {
    if (pattern_.shape == StencilShape::star) {
        return pattern_.weight[axis] * static_cast<double>(volume(box)) / box[axis];
    }
    double bytes = 0;
    for (std::size_t mask = 0; mask < pattern_.weight.size(); ++mask) {
        if ((mask >> axis & 1U) == 0) continue;
        double pairs = pattern_.weight[mask];
        for (std::size_t i = 0; i < box.size(); ++i) {
            if (i == axis) continue;
            const bool moved = (mask >> i & 1U) != 0;
            pairs *=
                moved ? count_partner_pairs(pattern_.axes[i].kind, box[i], box[i] == pattern_.axes[i].extent)
                      : box[i];
        }
        bytes += pairs;
    }
    return bytes;
}

double BoxBlocking::inner_bytes(const Box& box) const {
    double bytes = 0;
    const std::size_t classes = pattern_.weight.size();
    for (std::size_t c = 0; c < classes; ++c) {
        double pairs = pattern_.weight[c];
        if (pairs == 0) continue;
        for (std::size_t i = 0; i < box.size(); ++i) {
            const bool moved = pattern_.shape == StencilShape::star ? c == i : (c >> i & 1U) != 0;
            pairs *=
                moved ? count_partner_pairs(pattern_.axes[i].kind, box[i], box[i] == pattern_.axes[i].extent)
                      : box[i];
        }
        bytes += pairs;
    }
    return bytes;
}

double BoxBlocking::find_cheapest_cuts(std::size_t level, Box& box) {
    constexpr auto impossible = std::numeric_limits<float>::infinity();
    const double distance = static_cast<double>(levels_[level].distance);
    // The box is a group of single ranks. Whatever the sequence of cuts, it separates all pairs.
    if (level == 0) return inner_bytes(box) * distance;
    const std::uint64_t part = size_[level];
    const std::uint64_t cells = volume(box);
    if (cells == part) return find_cheapest_cuts(level - 1, box);
    if (known_[level].empty()) known_[level].resize(pattern_.rank_of_cell.size());
    const std::size_t at = index(box);
    if (known_[level][at].cost >= 0) return known_[level][at].cost;
    double best = impossible;
    std::uint32_t best_cut = no_cut;
    for (std::size_t i = 0; i < box.size(); ++i) {
        const std::uint32_t extent = box[i];
        if (extent == 1 || extent >= max_extent) continue;
        const std::uint64_t area = cells / extent;
        const auto step =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(part / std::gcd(part, area), extent));
        const double pair = 2 * bytes_per_pair(box, i) * distance;
        for (std::uint32_t cut_at = step; cut_at <= extent / 2; cut_at += step) {
            double sum = pair * count_cut_pairs(pattern_.axes[i], extent, cut_at);
            if (sum >= best) continue;
            box[i] = cut_at;
            sum += find_cheapest_cuts(level, box);
            box[i] = extent - cut_at;
            if (sum < best) sum += find_cheapest_cuts(level, box);
            box[i] = extent;
            if (sum < best) {
                best = sum;
                best_cut = static_cast<std::uint32_t>(i) << cut_bits | cut_at;
            }
        }
    }
    known_[level][at] = {static_cast<float>(best), best_cut};
    return known_[level][at].cost;
}

std::optional<double> BoxBlocking::cost(const Extents& box) {
    if (levels_.empty()) return 0;
    if (volume(box) != size_.back()) return std::nullopt;
    Box work = box;
    const double value = find_cheapest_cuts(levels_.size() - 1, work);
    if (value == std::numeric_limits<float>::infinity()) return std::nullopt;
    return value;
}

void BoxBlocking::list_groups(std::size_t level, Box& box, GridCell origin,
                              std::vector<GridCell>& cells) const {
    while (level > 0 && volume(box) == size_[level]) --level;
    if (level == 0) {
        Box at(box.size(), 0);
        for (std::uint64_t left = volume(box); left > 0; --left) {
            std::uint32_t cell = origin.value;
            for (std::size_t i = 0; i < box.size(); ++i) cell += at[i] * stride_[i];
            cells.push_back(GridCell{cell});
            for (std::size_t i = box.size(); i-- > 0;) {
                if (++at[i] < box[i]) break;
                at[i] = 0;
            }
        }
        return;
    }
    const std::uint32_t cut = known_[level][index(box)].cut;
    const std::size_t axis = cut >> cut_bits;
    const std::uint32_t cut_at = cut & (max_extent - 1);
    const std::uint32_t extent = box[axis];
    box[axis] = cut_at;
    list_groups(level, box, origin, cells);
    box[axis] = extent - cut_at;
    list_groups(level, box, GridCell{origin.value + cut_at * stride_[axis]}, cells);
    box[axis] = extent;
}

void BoxBlocking::list_cells(const Extents& box, GridCell origin, std::vector<GridCell>& cells) const {
    Box work = box;
    if (levels_.empty()) {
        cells.push_back(origin);
        return;
    }
    list_groups(levels_.size() - 1, work, origin, cells);
}

}  // namespace topoloom::grid
