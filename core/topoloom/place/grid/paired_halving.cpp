// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/grid/paired_halving.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>

#include "topoloom/machine/allocations/curves.hpp"
#include "topoloom/machine/slot_space.hpp"

namespace topoloom::grid {

namespace {

/// Integer coordinates of slots or cells, stored in one array.
template <class Point>
class PointCoordinates {
   public:
    PointCoordinates(std::size_t axes, std::size_t count) : axes_(axes), at_(axes * count) {}
    [[nodiscard]] std::size_t axes() const { return axes_; }
    std::uint32_t* operator[](Point point) { return at_.data() + std::size_t{point.value} * axes_; }
    const std::uint32_t* operator[](Point point) const {
        return at_.data() + std::size_t{point.value} * axes_;
    }

    /// Smallest and largest coordinate on every axis.
    void find_bounds(std::span<const Point> points, Extents& low, Extents& high) const {
        low.assign(axes_, std::numeric_limits<std::uint32_t>::max());
        high.assign(axes_, 0);
        for (const Point p : points) {
            const std::uint32_t* at = (*this)[p];
            for (std::size_t i = 0; i < axes_; ++i) {
                low[i] = std::min(low[i], at[i]);
                high[i] = std::max(high[i], at[i]);
            }
        }
    }

    /// Moves the `count` points with the lowest coordinate on `axis` to the front; ties are broken by the
    /// other axes in turn.
    void move_lowest_first(std::span<Point> points, std::size_t axis, std::size_t count) const {
        std::nth_element(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(count), points.end(),
                         [&](Point a, Point b) {
                             const std::uint32_t* x = (*this)[a];
                             const std::uint32_t* y = (*this)[b];
                             for (std::size_t i = 0; i < axes_; ++i) {
                                 const std::size_t d = (axis + i) % axes_;
                                 if (x[d] != y[d]) return x[d] < y[d];
                             }
                             return a < b;
                         });
    }

    /// The number of lowest points that is nearest to half and ends between two planes. Half, if every such
    /// number is a quarter of all points or more away from it.
    [[nodiscard]] std::size_t find_even_split(std::span<const Point> points, std::size_t axis,
                                              std::uint32_t low, std::uint32_t high) const {
        std::vector<std::size_t> in_plane(high - low + 1, 0);
        for (const Point p : points) ++in_plane[(*this)[p][axis] - low];
        const std::size_t half = points.size() / 2;
        std::size_t best = half;
        std::size_t least = half / 2;
        std::size_t below = 0;
        for (const std::size_t count : in_plane) {
            below += count;
            const std::size_t off = below < half ? half - below : below - half;
            if (off < least) {
                least = off;
                best = below;
            }
        }
        return best;
    }

   private:
    std::size_t axes_;
    std::vector<std::uint32_t> at_;
};

class GridHalving {
   public:
    GridHalving(const GridPattern& pattern, const CommGraph& graph, const Allocation& allocation,
                SlotChoice choice, CutChoice cuts)
        : pattern_(pattern),
          graph_(graph),
          machine_(allocation.machine()),
          cuts_(cuts),
          cells_(pattern.axes.size(), pattern.rank_of_cell.size()),
          slots_(machine_.grid().size(), std::min(pattern.rank_of_cell.size(), allocation.slot_count())),
          has_axes_(machine_.has_grid()) {
        choose_slots(allocation, choice);
        space_ = make_slot_space(machine_, taken_);
        if (has_axes_) locate_slots();
        const Extents stride = strides_of(pattern.axes);
        for (const GridCell cell : ids<GridCell>(pattern.rank_of_cell.size())) {
            std::uint32_t rest = cell.value;
            for (std::size_t i = 0; i < stride.size(); ++i) {
                cells_[cell][i] = rest / stride[i];
                rest %= stride[i];
            }
        }
        for (std::size_t i = 0; i < pattern.axes.size(); ++i) plane_bytes_.push_back(count_bytes_across(i));
    }

    std::vector<Slot> run() {
        const std::size_t n = pattern_.rank_of_cell.size();
        std::vector<GridCell> cells = id_list<GridCell>(n);
        std::vector<Position> slots = id_list<Position>(taken_.size());
        placed_.resize(n);
        center_.assign(n, Position{taken_.size() / 2});
        part_of_.assign(n, Part{0});
        side_.assign(n, 0);
        // Proceeds level by level, so that all parts have been divided equally often when costs are computed.
        std::vector<Piece> level{{cells, slots}};
        while (!level.empty()) {
            std::vector<Piece> next;
            for (const Piece& piece : level) {
                if (piece.slots.size() == 1) {
                    for (const GridCell cell : piece.cells) placed_[rank(cell).value] = slot(piece.slots[0]);
                    continue;
                }
                const std::size_t first = split_slots(piece.slots);
                const std::size_t first_cells = piece.cells.size() * first / piece.slots.size();
                split_cells(piece.cells, first_cells, piece.slots, first);
                next.push_back({piece.cells.first(first_cells), piece.slots.first(first)});
                next.push_back({piece.cells.subspan(first_cells), piece.slots.subspan(first)});
            }
            level = std::move(next);
        }
        return std::move(placed_);
    }

   private:
    void choose_slots(const Allocation& allocation, SlotChoice choice) {
        const std::size_t n = std::min(pattern_.rank_of_cell.size(), allocation.slot_count());
        if (choice == SlotChoice::hilbert) {
            const std::vector<std::uint32_t> order = sort_along_curve(Curve::hilbert, allocation);
            for (std::size_t i = 0; i < n; ++i) taken_.push_back(allocation.slots()[order[i]]);
            std::sort(taken_.begin(), taken_.end());
        } else {
            taken_.assign(allocation.slots().begin(), allocation.slots().end());
            std::sort(taken_.begin(), taken_.end());
            taken_.resize(n);
        }
    }

    /// Stores the coordinates of the slots; on a ring, coordinates start behind the largest gap.
    void locate_slots() {
        const Extents extent = machine_.grid();
        const std::vector<bool> wraps = machine_.wraps();
        for (const Position s : ids<Position>(taken_.size())) {
            const Extents at = machine_.coordinates(machine_.node(slot(s)));
            std::copy(at.begin(), at.end(), slots_[s]);
        }
        for (std::size_t d = 0; d < extent.size(); ++d) {
            if (!wraps[d]) continue;
            std::vector<char> used(extent[d], 0);
            for (const Position s : ids<Position>(taken_.size())) used[slots_[s][d]] = 1;
            std::uint32_t begin = 0;
            std::uint32_t widest = 0;
            for (std::uint32_t x = 0; x < extent[d]; ++x) {
                std::uint32_t gap = 0;
                while (gap < extent[d] && used[(x + gap) % extent[d]] == 0) ++gap;
                if (gap > widest) {
                    widest = gap;
                    begin = (x + gap) % extent[d];
                }
            }
            for (const Position s : ids<Position>(taken_.size())) {
                slots_[s][d] = (slots_[s][d] + extent[d] - begin) % extent[d];
            }
        }
    }

    /// Bytes of messages along an axis that cross a cut, per rank in the plane of the cut.
    [[nodiscard]] double count_bytes_across(std::size_t axis) const {
        const AxisKind kind = pattern_.axes[axis].kind;
        if (kind == AxisKind::apart) return 0;
        double weight = 0;
        for (std::size_t c = 0; c < pattern_.weight.size(); ++c) {
            const bool along = pattern_.shape == StencilShape::star ? c == axis : (c >> axis & 1U) != 0;
            if (along) weight += pattern_.weight[c];
        }
        return kind == AxisKind::clique ? weight * pattern_.axes[axis].extent / 2 : weight;
    }

    /// The axis along which a cut of the cells separates the fewest bytes.
    [[nodiscard]] std::size_t choose_cell_axis(std::span<const GridCell> cells) {
        cells_.find_bounds(cells, low_, high_);
        std::size_t best = 0;
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < cells_.axes(); ++i) {
            const std::uint32_t extent = high_[i] - low_[i] + 1;
            if (extent == 1) continue;
            const double bytes = plane_bytes_[i] / extent;
            if (bytes < least) {
                least = bytes;
                best = i;
            }
        }
        return best;
    }

    struct Cut {
        std::size_t axis = 0;
        std::size_t count = 0;  // 0: no cut
    };

    /// The plane at which the fewest slots meet, relative to the number of slots on the smaller side. Each
    /// side must have at least an eighth of the slots. Prefers gaps, where no slots meet.
    [[nodiscard]] Cut find_thinnest_cut(std::span<const Position> slots) {
        slots_.find_bounds(slots, low_, high_);
        Cut best;
        double least = std::numeric_limits<double>::infinity();
        std::vector<std::size_t> in_plane;
        for (std::size_t axis = 0; axis < slots_.axes(); ++axis) {
            in_plane.assign(high_[axis] - low_[axis] + 1, 0);
            for (const Position s : slots) ++in_plane[slots_[s][axis] - low_[axis]];
            std::size_t below = 0;
            for (std::size_t x = 0; x + 1 < in_plane.size(); ++x) {
                below += in_plane[x];
                const std::size_t smaller = std::min(below, slots.size() - below);
                if (8 * smaller < slots.size()) continue;
                const auto meet = static_cast<double>(std::min(in_plane[x], in_plane[x + 1]));
                const double thin = (meet + 0.5) / static_cast<double>(smaller);
                if (thin >= least) continue;
                least = thin;
                best = {axis, below};
            }
        }
        return best;
    }

    /// Orders the slots; returns the number of slots in the first half.
    std::size_t split_slots(std::span<Position> slots) {
        if (has_axes_) {
            if (cuts_ == CutChoice::by_cost) {
                const Cut cut = find_thinnest_cut(slots);
                if (cut.count > 0) {
                    slots_.move_lowest_first(slots, cut.axis, cut.count);
                    return cut.count;
                }
            }
            slots_.find_bounds(slots, low_, high_);
            std::size_t axis = 0;
            for (std::size_t d = 1; d < slots_.axes(); ++d) {
                if (high_[d] - low_[d] > high_[axis] - low_[axis]) axis = d;
            }
            if (high_[axis] > low_[axis]) {
                const std::size_t count = slots_.find_even_split(slots, axis, low_[axis], high_[axis]);
                slots_.move_lowest_first(slots, axis, count);
                return count;
            }
        }
        // Without axes, cuts in the order of slot numbers, between the two successive slots that are farthest
        // apart; ties go to the cut nearest to the middle.
        std::sort(slots.begin(), slots.end());
        const std::size_t half = slots.size() / 2;
        std::size_t best = half;
        std::uint32_t farthest = 0;
        for (std::size_t k = 0; k < slots.size() - 1; ++k) {
            const std::size_t i = half + (k % 2 == 0 ? k / 2 : slots.size() - (k + 1) / 2);
            const std::size_t at = i >= slots.size() ? i - slots.size() : i;
            if (at == 0) continue;
            const std::uint32_t apart = machine_.distance(slot(slots[at - 1]), slot(slots[at]));
            if (apart > farthest) {
                farthest = apart;
                best = at;
            }
        }
        return best;
    }

    [[nodiscard]] Rank rank(GridCell cell) const { return pattern_.rank_of_cell[cell.value]; }
    [[nodiscard]] Slot slot(Position position) const { return taken_[position.value]; }

    /// The slot nearest to the mean coordinates of these slots.
    [[nodiscard]] Position find_center_slot(std::span<const Position> slots) const {
        if (!has_axes_) return slots[slots.size() / 2];
        const std::size_t axes = slots_.axes();
        std::vector<std::int64_t> sum(axes, 0);
        for (const Position s : slots) {
            for (std::size_t d = 0; d < axes; ++d) sum[d] += slots_[s][d];
        }
        const auto count = static_cast<std::int64_t>(slots.size());
        Position best = slots[0];
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        for (const Position s : slots) {
            std::int64_t off = 0;
            for (std::size_t d = 0; d < axes; ++d) off += std::abs(slots_[s][d] * count - sum[d]);
            if (off < least) {
                least = off;
                best = s;
            }
        }
        return best;
    }

    /// Orders the cells so that the `count` cells for the first slots come first.
    void split_cells(std::span<GridCell> cells, std::size_t count, std::span<const Position> slots,
                     std::size_t slot_count) {
        if (cuts_ == CutChoice::by_shape) {
            cells_.move_lowest_first(cells, choose_cell_axis(cells), count);
            return;
        }
        const Position here = find_center_slot(slots.first(slot_count));
        const Position there = find_center_slot(slots.subspan(slot_count));
        ++parts_.value;
        for (const GridCell cell : cells) part_of_[rank(cell).value] = parts_;
        Extents low;
        Extents high;
        cells_.find_bounds(cells, low, high);
        std::vector<GridCell> best;
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        for (std::size_t axis = 0; axis < cells_.axes(); ++axis) {
            if (low[axis] == high[axis]) continue;
            for (const bool turned : {false, true}) {
                cells_.move_lowest_first(cells, axis, turned ? cells.size() - count : count);
                if (turned) {
                    std::rotate(cells.begin(), cells.end() - static_cast<std::ptrdiff_t>(count), cells.end());
                }
                const std::int64_t cost = compute_cost(cells, count, here, there);
                if (cost >= least) continue;
                least = cost;
                best.assign(cells.begin(), cells.end());
            }
        }
        std::copy(best.begin(), best.end(), cells.begin());
        for (std::size_t k = 0; k < cells.size(); ++k)
            center_[rank(cells[k]).value] = k < count ? here : there;
    }

    /// Hop-bytes of the messages of these cells if the first `count` are at `here`, the others at `there`,
    /// and all other ranks at the center of their part.
    std::int64_t compute_cost(std::span<const GridCell> cells, std::size_t count, Position here,
                              Position there) {
        for (std::size_t k = 0; k < cells.size(); ++k) side_[rank(cells[k]).value] = k < count ? 0 : 1;
        const auto apart = static_cast<std::int64_t>(space_->distance(here.value, there.value));
        std::int64_t between = 0;
        std::int64_t outside = 0;
        for (std::size_t k = 0; k < cells.size(); ++k) {
            const Rank u = rank(cells[k]);
            const auto peers = graph_.peers(u);
            const auto bytes = graph_.bytes(u);
            const Position own = k < count ? here : there;
            for (std::size_t i = 0; i < peers.size(); ++i) {
                const std::uint32_t v = peers[i].value;
                if (part_of_[v] == parts_) {
                    between += side_[v] != side_[u.value] ? bytes[i].value : 0;
                } else {
                    outside += bytes[i].value *
                               static_cast<std::int64_t>(space_->distance(own.value, center_[v].value));
                }
            }
        }
        // Messages between these cells were counted from both ends.
        return outside + between / 2 * apart;
    }

    struct Piece {
        std::span<GridCell> cells;
        std::span<Position> slots;
    };

    std::unique_ptr<SlotSpace> space_;  // distances between the slots in use
    const GridPattern& pattern_;
    const CommGraph& graph_;
    const Machine& machine_;
    CutChoice cuts_;
    PointCoordinates<GridCell> cells_;
    PointCoordinates<Position> slots_;  // by position among the slots in use: coordinates
    bool has_axes_;
    std::vector<Slot> taken_;  // the slots in use, ascending
    std::vector<double> plane_bytes_;
    Extents low_;  // a member only to save allocations
    Extents high_;
    // by rank: the slot in the center of its part
    std::vector<Position> center_;
    std::vector<Part> part_of_;  // by rank: its part at the current level
    Part parts_{0};              // number of the newest part
    std::vector<char> side_;
    std::vector<Slot> placed_;
};

}  // namespace

std::vector<Slot> place_by_halving(const GridPattern& pattern, const CommGraph& symmetric,
                                   const Allocation& allocation, SlotChoice choice, CutChoice cuts) {
    return GridHalving(pattern, symmetric, allocation, choice, cuts).run();
}

}  // namespace topoloom::grid
