// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/grid/cell_orders.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "topoloom/base/error.hpp"
#include "topoloom/metric/node_map.hpp"

namespace topoloom::grid {

namespace {

void list_tiles(const Extents& grid, std::uint64_t cores, Extents& tile, std::vector<Extents>& tiles) {
    const std::size_t axis = tile.size();
    if (axis == grid.size()) {
        if (cores == 1) tiles.push_back(tile);
        return;
    }
    const std::uint64_t most = std::min<std::uint64_t>(grid[axis], cores);
    for (std::uint32_t extent = 1; extent <= most; ++extent) {
        if (grid[axis] % extent != 0 || cores % extent != 0) continue;
        tile.push_back(extent);
        list_tiles(grid, cores / extent, tile, tiles);
        tile.pop_back();
    }
}

/// A box of cells: the range [begin, end) on every axis.
struct CellBox {
    Extents begin;
    Extents end;
};

/// Lists cells box by box, with `axes` from slowest to fastest.
class CellLister {
   public:
    CellLister(const Extents& grid, std::vector<std::size_t> axes)
        : stride_(row_major_strides(grid)), axes_(std::move(axes)) {
        cells_.reserve(std::size_t{stride_[0]} * grid[0]);
    }
    void list_forward(const CellBox& box) { list_cells_from(box, 0, 0); }
    /// Lists every other layer of the slowest axis backward; `backward` also reverses the order of the
    /// layers.
    void list_back_and_forth(const CellBox& box, bool backward) {
        const std::size_t axis = axes_[0];
        for (std::uint32_t i = box.begin[axis]; i < box.end[axis]; ++i) {
            const std::uint32_t layer = backward ? box.begin[axis] + box.end[axis] - 1 - i : i;
            list_cells_from(box, 1, layer * stride_[axis]);
            backward_ = !backward_;
        }
        backward_ = false;
    }
    [[nodiscard]] std::vector<GridCell> cells() && { return std::move(cells_); }

   private:
    void list_cells_from(const CellBox& box, std::size_t depth, std::uint32_t cell) {
        if (depth == axes_.size()) {
            cells_.push_back(GridCell{cell});
            return;
        }
        const std::size_t axis = axes_[depth];
        for (std::uint32_t i = box.begin[axis]; i < box.end[axis]; ++i) {
            const std::uint32_t x = backward_ ? box.begin[axis] + box.end[axis] - 1 - i : i;
            list_cells_from(box, depth + 1, cell + x * stride_[axis]);
        }
    }

    Extents stride_;
    std::vector<std::size_t> axes_;  // axes from slowest to fastest
    bool backward_ = false;
    std::vector<GridCell> cells_;
};

std::vector<std::size_t> list_axes(std::size_t count) {
    std::vector<std::size_t> axes(count);
    std::iota(axes.begin(), axes.end(), std::size_t{0});
    return axes;
}

void halve_box(const WeightedGrid& grid, const Extents& stride, CellBox& box, std::vector<GridCell>& cells) {
    std::size_t longest = 0;
    double most = 0;
    for (std::size_t i = 0; i < stride.size(); ++i) {
        const std::uint32_t extent = box.end[i] - box.begin[i];
        // the weight of an axis may be 0
        const double ratio = extent / std::max(grid.weight[i], 1e-9);
        if (extent > 1 && ratio > most) {
            most = ratio;
            longest = i;
        }
    }
    if (most == 0) {
        std::uint32_t cell = 0;
        for (std::size_t i = 0; i < stride.size(); ++i) cell += box.begin[i] * stride[i];
        cells.push_back(GridCell{cell});
        return;
    }
    const std::uint32_t begin = box.begin[longest];
    const std::uint32_t end = box.end[longest];
    const std::uint32_t middle = begin + (end - begin) / 2;
    box.end[longest] = middle;
    halve_box(grid, stride, box, cells);
    box.end[longest] = end;
    box.begin[longest] = middle;
    halve_box(grid, stride, box, cells);
    box.begin[longest] = begin;
}

class CellBisection {
   public:
    explicit CellBisection(const WeightedGrid& grid)
        : grid_(grid), stride_(row_major_strides(grid.extents)) {}

    void split(std::span<GridCell> cells, std::span<const std::uint32_t> sizes) const {
        if (sizes.size() < 2 || cells.size() < 2) return;
        const Cut cut = find_best_cut(find_bounds(cells), cells.size(), sizes);
        const auto left = static_cast<std::ptrdiff_t>(cut.cells);
        std::nth_element(cells.begin(), cells.begin() + left, cells.end(), [&](GridCell a, GridCell b) {
            const std::uint32_t x = at(a, cut.axis);
            const std::uint32_t y = at(b, cut.axis);
            return x != y ? x < y : a < b;
        });
        split(cells.first(cut.cells), sizes.first(cut.groups));
        split(cells.subspan(cut.cells), sizes.subspan(cut.groups));
    }

   private:
    struct Cut {
        std::size_t axis = 0;
        std::size_t groups = 0;  // groups on the lower side of the cut
        std::size_t cells = 0;   // in these
    };

    [[nodiscard]] std::uint32_t at(GridCell cell, std::size_t axis) const {
        return cell.value / stride_[axis] % grid_.extents[axis];
    }

    [[nodiscard]] CellBox find_bounds(std::span<const GridCell> cells) const {
        CellBox box{grid_.extents, Extents(stride_.size(), 0)};
        for (const GridCell cell : cells) {
            for (std::size_t i = 0; i < stride_.size(); ++i) {
                const std::uint32_t x = at(cell, i);
                box.begin[i] = std::min(box.begin[i], x);
                box.end[i] = std::max(box.end[i], x + 1);
            }
        }
        return box;
    }

    [[nodiscard]] Cut find_best_cut(const CellBox& box, std::size_t count,
                                    std::span<const std::uint32_t> sizes) const {
        // Considers only group boundaries in the middle half of the groups, because others do not pay.
        const std::size_t first = std::max<std::size_t>(1, sizes.size() / 4);
        const std::size_t last = sizes.size() - first;
        std::size_t before = 0;
        for (std::size_t g = 0; g < first; ++g) before += sizes[g];
        Cut best;
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t groups = first; groups <= last; before += sizes[groups++]) {
            const double off = std::abs(2.0 * static_cast<double>(before) / static_cast<double>(count) - 1);
            for (std::size_t i = 0; i < stride_.size(); ++i) {
                const std::uint32_t extent = box.end[i] - box.begin[i];
                if (extent < 2) continue;
                const double area = static_cast<double>(count) / extent;
                double cost = grid_.weight[i] * area * (1 + 0.2 * off);
                if (std::fmod(static_cast<double>(before), area) != 0) cost += step_cost(box, i, area);
                if (cost >= least) continue;
                least = cost;
                best = {i, groups, before};
            }
        }
        return best;
    }

    /// Bytes that cross the step at the end of an incomplete layer.
    [[nodiscard]] double step_cost(const CellBox& box, std::size_t axis, double area) const {
        for (std::size_t i = 0; i < stride_.size(); ++i) {
            if (i != axis && box.end[i] - box.begin[i] > 1)
                return grid_.weight[i] * area / (box.end[i] - box.begin[i]);
        }
        return 0;
    }

    const WeightedGrid& grid_;
    Extents stride_;
};

}  // namespace

std::vector<Extents> node_tiles(const WeightedGrid& grid, std::uint64_t cores) {
    if (cores == 0) fail("a node without cores holds no tile");
    std::vector<Extents> tiles;
    Extents tile;
    list_tiles(grid.extents, cores, tile, tiles);
    std::ranges::stable_sort(tiles, {},
                             [&](const Extents& extents) { return tile_surface(extents, grid.weight); });
    return tiles;
}

std::vector<GridCell> order_by_tiles(const Extents& grid, const Extents& tile) {
    CellLister lister(grid, list_axes(grid.size()));
    CellBox box{Extents(grid.size(), 0), tile};
    for (;;) {
        lister.list_forward(box);
        std::size_t i = grid.size();
        while (i > 0 && (box.end[i - 1] += tile[i - 1]) > grid[i - 1]) {
            --i;
            box.begin[i] = 0;
            box.end[i] = tile[i];
        }
        if (i == 0) return std::move(lister).cells();
        box.begin[i - 1] += tile[i - 1];
    }
}

std::vector<GridCell> order_by_strips(const Extents& grid, const std::vector<std::size_t>& axes,
                                      const Extents& strips) {
    CellLister lister(grid, axes);
    // The strips form a small grid, which is also traversed back and forth.
    Extents count = strips;
    count[axes.front()] = 1;
    std::vector<std::size_t> across = axes;
    std::rotate(across.begin(), across.begin() + 1, across.end());
    CellLister strip_lister(count, across);
    strip_lister.list_back_and_forth({Extents(grid.size(), 0), count}, false);
    bool backward = false;
    const Extents stride = row_major_strides(count);
    for (const GridCell strip : std::move(strip_lister).cells()) {
        CellBox box{Extents(grid.size(), 0), grid};
        for (std::size_t i = 0; i < grid.size(); ++i) {
            const std::uint64_t x = strip.value / stride[i] % count[i];
            box.begin[i] = static_cast<std::uint32_t>(x * grid[i] / count[i]);
            box.end[i] = static_cast<std::uint32_t>((x + 1) * grid[i] / count[i]);
        }
        lister.list_back_and_forth(box, backward);
        backward = !backward;
    }
    return std::move(lister).cells();
}

std::vector<GridCell> order_by_halving(const WeightedGrid& grid) {
    std::vector<GridCell> cells;
    CellBox box{Extents(grid.extents.size(), 0), grid.extents};
    halve_box(grid, row_major_strides(grid.extents), box, cells);
    return cells;
}

void bisect_cells(const WeightedGrid& grid, std::span<GridCell> cells, std::span<const std::uint32_t> sizes) {
    CellBisection(grid).split(cells, sizes);
}

}  // namespace topoloom::grid
