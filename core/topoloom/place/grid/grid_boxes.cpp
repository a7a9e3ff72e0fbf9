// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/grid/grid_boxes.hpp"

#include <algorithm>
#include <limits>

#include "topoloom/place/shared/fitting.hpp"

namespace topoloom::grid {

namespace {

class FactorizationVisitor {
   public:
    FactorizationVisitor(const Extents& limits, FactorRule kind,
                         const std::function<void(const Extents&)>& visit)
        : limits_(limits), kind_(kind), visit_(visit), now_(limits.size()), most_(limits.size() + 1, 1) {
        for (std::size_t i = limits.size(); i-- > 0;) most_[i] = most_[i + 1] * limits[i];
    }

    void visit_from(std::size_t axis, std::uint64_t rest) {
        if (left_ == 0 || static_cast<double>(rest) > most_[axis]) return;
        if (axis == limits_.size()) {
            --left_;
            return visit_(now_);
        }
        for (const std::uint32_t factor : divisors(rest)) {
            if (factor > limits_[axis] || (kind_ == FactorRule::dividing && limits_[axis] % factor != 0))
                continue;
            now_[axis] = factor;
            visit_from(axis + 1, rest / factor);
        }
    }

   private:
    [[nodiscard]] static Extents divisors(std::uint64_t n) {
        Extents low;
        Extents high;
        for (std::uint64_t d = 1; d * d <= n; ++d) {
            if (n % d != 0) continue;
            low.push_back(static_cast<std::uint32_t>(d));
            if (d * d != n) high.push_back(static_cast<std::uint32_t>(n / d));
        }
        low.insert(low.end(), high.rbegin(), high.rend());
        return low;
    }

    const Extents& limits_;
    FactorRule kind_;
    const std::function<void(const Extents&)>& visit_;
    Extents now_;
    std::vector<double> most_;  // by axis i: largest product of factors on this and later axes
    std::size_t left_ = 100'000;
};

/// Assigns cells to boxes so that boxes differ by at most one layer per axis. Boxes are numbered row-major.
std::vector<Part> assign_layers_to_boxes(const Extents& extents, const Extents& boxes) {
    std::vector<Part> box_of_cell{Part{0}};
    for (std::size_t i = 0; i < extents.size(); ++i) {
        std::vector<Part> next;
        next.reserve(box_of_cell.size() * extents[i]);
        for (const Part box : box_of_cell) {
            for (std::uint64_t x = 0; x < extents[i]; ++x)
                next.push_back(Part{box.value * boxes[i] + x * boxes[i] / extents[i]});
        }
        box_of_cell = std::move(next);
    }
    return box_of_cell;
}

/// Cuts the cells into pieces of equal load along the first axis, then each piece along the second axis, and
/// so on.
class LoadCutter {
   public:
    LoadCutter(const RankGrid& grid, const Extents& boxes, std::span<const std::int64_t> masses)
        : grid_(grid),
          boxes_(boxes),
          masses_(masses),
          box_of_cell_(grid.cells()),
          stride_(row_major_strides(grid.extents)) {}

    std::vector<Part> run() {
        std::vector<GridCell> cells = id_list<GridCell>(grid_.cells());
        cut_cells(cells, 0, Part{0});
        return std::move(box_of_cell_);
    }

   private:
    void cut_cells(std::span<GridCell> cells, std::size_t axis, Part box) {
        if (axis == boxes_.size()) {
            for (const GridCell cell : cells) box_of_cell_[cell.value] = box;
            return;
        }
        std::ranges::stable_sort(
            cells, {}, [&](GridCell cell) { return cell.value / stride_[axis] % grid_.extents[axis]; });
        double load = 0;
        for (const GridCell cell : cells) load += mass(cell);
        double before = 0;
        std::size_t begin = 0;
        for (std::uint32_t part = 0; part < boxes_[axis]; ++part) {
            std::size_t end = begin;
            // A cell goes to the part in which the middle of its load lies.
            while (end < cells.size() &&
                   (part + 1 == boxes_[axis] ||
                    (2 * before + mass(cells[end])) * boxes_[axis] < 2 * load * (part + 1.0))) {
                before += mass(cells[end++]);
            }
            cut_cells(cells.subspan(begin, end - begin), axis + 1, Part{box.value * boxes_[axis] + part});
            begin = end;
        }
    }
    [[nodiscard]] double mass(GridCell cell) const {
        return static_cast<double>(masses_[grid_.rank_of_cell[cell.value].value]);
    }

    const RankGrid& grid_;
    const Extents& boxes_;
    std::span<const std::int64_t> masses_;
    std::vector<Part> box_of_cell_;
    Extents stride_;
};

}  // namespace

std::vector<PlaneBytes> count_plane_bytes(const RankGrid& grid) {
    std::vector<PlaneBytes> planes;
    for (std::size_t i = 0; i < grid.axes(); ++i)
        planes.push_back({grid.bytes[i] / std::max(1U, grid.extents[i] - 1), grid.wrap_bytes[i]});
    return planes;
}

void for_each_factorization(std::uint64_t product, const Extents& limits, FactorRule kind,
                            const std::function<void(const Extents&)>& visit) {
    FactorizationVisitor(limits, kind, visit).visit_from(0, product);
}

void for_each_box_shape(std::uint64_t product, const Extents& limits,
                        const std::function<void(const Extents&)>& visit) {
    bool any = false;
    for_each_factorization(product, limits, FactorRule::up_to, [&](const Extents& factors) {
        any = true;
        visit(factors);
    });
    const Extents unlimited(limits.size(), static_cast<std::uint32_t>(product));
    if (!any) for_each_factorization(product, unlimited, FactorRule::up_to, visit);
}

Extents boxes_of_least_surface(const RankGrid& grid, std::uint64_t count) {
    const std::vector<PlaneBytes> planes = count_plane_bytes(grid);
    Extents best;
    double least = std::numeric_limits<double>::infinity();
    for_each_box_shape(count, grid.extents, [&](const Extents& boxes) {
        double surface = 0;
        for (std::size_t i = 0; i < boxes.size(); ++i) surface += planes[i].cut_bytes(boxes[i]);
        if (surface >= least) return;
        least = surface;
        best = boxes;
    });
    return best;
}

std::optional<Placement> place_in_boxes(const Problem& problem, const RankGrid& grid, const Extents& boxes,
                                        std::span<const Slot> slot_of_box) {
    const bool alone = problem.capacity().one_rank_per_slot();
    const auto placed = [&](const std::vector<Part>& box_of_cell) {
        std::vector<Slot> slots(grid.cells());
        for (std::size_t cell = 0; cell < slots.size(); ++cell)
            slots[grid.rank_of_cell[cell].value] = slot_of_box[box_of_cell[cell].value];
        return Placement(problem.allocation(), std::move(slots), alone ? SlotUse::one_rank : SlotUse::shared);
    };
    if (!alone || boxes == grid.extents) {
        Placement equal = placed(assign_layers_to_boxes(grid.extents, boxes));
        if (alone || shared::fits(problem, equal)) return equal;
    }
    Placement even = placed(LoadCutter(grid, boxes, problem.capacity().masses()).run());
    return alone ? even : shared::try_to_fit(problem, std::move(even));
}

}  // namespace topoloom::grid
