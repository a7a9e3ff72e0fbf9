// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/allocations/fragments.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "topoloom/base/error.hpp"
#include "topoloom/base/rng.hpp"

namespace topoloom {

namespace {

using Cell = std::vector<std::int64_t>;

/// The routers of a machine as cells of its grid.
class RouterGrid {
   public:
    explicit RouterGrid(const Machine& machine) : wraps_(machine.wraps()) {
        for (const std::uint32_t extent : machine.grid()) {
            size_.push_back(extent);
            cells_ *= extent;
        }
        nodes_per_cell_ = machine.node_count() / cells_;
    }

    [[nodiscard]] std::size_t axes() const { return size_.size(); }
    [[nodiscard]] std::size_t cells() const { return cells_; }
    [[nodiscard]] std::size_t nodes_per_cell() const { return nodes_per_cell_; }
    [[nodiscard]] std::int64_t size(std::size_t d) const { return size_[d]; }
    [[nodiscard]] bool wraps(std::size_t d) const { return wraps_[d]; }

    /// The number of the cell, or cells() if the cell is beyond the end of a line.
    [[nodiscard]] std::size_t index(const Cell& cell) const {
        std::size_t index = 0;
        for (std::size_t d = 0; d < axes(); ++d) {
            std::int64_t c = cell[d];
            if (c < 0 || c >= size_[d]) {
                if (!wraps_[d]) return cells_;
                c = (c + size_[d]) % size_[d];
            }
            index = index * static_cast<std::size_t>(size_[d]) + static_cast<std::size_t>(c);
        }
        return index;
    }
    [[nodiscard]] Cell cell(std::size_t index) const {
        Cell cell(axes());
        for (std::size_t d = axes(); d-- > 0;) {
            cell[d] = static_cast<std::int64_t>(index % static_cast<std::size_t>(size_[d]));
            index /= static_cast<std::size_t>(size_[d]);
        }
        return cell;
    }
    template <class Visit>
    void neighbors(std::size_t index, const Visit& visit) const {
        Cell at = cell(index);
        for (std::size_t d = 0; d < axes(); ++d) {
            for (const std::int64_t step : {-1, 1}) {
                at[d] += step;
                const std::size_t next = this->index(at);
                if (next != cells_ && next != index) visit(next);
                at[d] -= step;
            }
        }
    }

   private:
    std::vector<std::int64_t> size_;
    std::vector<bool> wraps_;
    std::size_t cells_ = 1;
    std::size_t nodes_per_cell_ = 1;
};

/// Marks the cells that have a node that is down.
std::vector<char> mark_down_cells(const Machine& machine, const RouterGrid& grid) {
    std::vector<std::size_t> usable(grid.cells(), 0);
    for (const Node node : machine.usable_nodes()) ++usable[node.value / grid.nodes_per_cell()];
    std::vector<char> down;
    for (const std::size_t nodes : usable) down.push_back(nodes < grid.nodes_per_cell() ? 1 : 0);
    return down;
}

/// Draws the sizes of the fragments in cells. Each fragment has at least one cell.
std::vector<std::size_t> draw_sizes(std::size_t cells, std::size_t fragments, Rng& rng) {
    std::vector<double> weight(fragments);
    for (double& w : weight) w = 0.3 + rng.uniform();
    const double sum = std::accumulate(weight.begin(), weight.end(), 0.0);
    std::vector<std::size_t> sizes(fragments);
    std::size_t given = 0;
    for (std::size_t i = 0; i < fragments; ++i) {
        const double share = weight[i] / sum * static_cast<double>(cells - fragments);
        sizes[i] = 1 + static_cast<std::size_t>(share);
        given += sizes[i];
    }
    for (std::size_t i = 0; given < cells; i = (i + 1) % fragments, ++given) ++sizes[i];
    return sizes;
}

/// Draws the extents of a line, plane or box of at least `size` cells. If the machine is too short, a line
/// becomes a plane, and a plane a box.
Cell draw_shape(const RouterGrid& grid, std::size_t size, Rng& rng) {
    Cell shape(grid.axes(), 1);
    const auto wanted = static_cast<double>(size);
    const std::uint32_t dimensions =
        1 + rng.below(static_cast<std::uint32_t>(std::min<std::size_t>(3, grid.axes())));
    double filled = 1;
    for (std::size_t k = 0; k < grid.axes() && filled < wanted; ++k) {
        const std::size_t d = grid.axes() - 1 - k;  // the last axis gets the longest extent
        const std::size_t left = k < dimensions ? dimensions - k : 1;
        const auto extent =
            static_cast<std::int64_t>(std::ceil(std::pow(wanted / filled, 1.0 / static_cast<double>(left))));
        shape[d] = std::clamp<std::int64_t>(extent, 1, grid.size(d));
        filled *= static_cast<double>(shape[d]);
    }
    return shape;
}

/// Returns the first `size` cells of the box at `corner`, or an empty list if one of them is blocked.
std::vector<std::size_t> take_box_cells(const RouterGrid& grid, const Cell& corner, const Cell& shape,
                                        std::size_t size, const std::vector<char>& blocked) {
    std::vector<std::size_t> piece;
    Cell offset(grid.axes(), 0);
    while (piece.size() < size) {
        Cell cell = corner;
        for (std::size_t d = 0; d < grid.axes(); ++d) cell[d] += offset[d];
        const std::size_t index = grid.index(cell);
        if (index == grid.cells() || blocked[index]) return {};
        piece.push_back(index);
        std::size_t d = grid.axes();
        while (d > 0 && ++offset[d - 1] == shape[d - 1]) offset[--d] = 0;
        if (d == 0) break;
    }
    return piece.size() == size ? piece : std::vector<std::size_t>{};
}

/// Returns at most `size` cells around a random cell, nearest first, without the cells to avoid. Called if no
/// box is free.
std::vector<std::size_t> grow_fragment(const RouterGrid& grid, std::size_t size,
                                       const std::vector<char>& avoided, Rng& rng) {
    std::size_t start = rng.below(static_cast<std::uint32_t>(grid.cells()));
    std::size_t visited = 1;
    for (; avoided[start] && visited < grid.cells(); ++visited) start = (start + 1) % grid.cells();
    if (avoided[start]) return {};
    std::vector<char> seen = avoided;
    std::vector<std::size_t> piece{start};
    seen[start] = 1;
    for (std::size_t i = 0; i < piece.size() && piece.size() < size; ++i) {
        grid.neighbors(piece[i], [&](std::size_t next) {
            if (seen[next] || piece.size() == size) return;
            seen[next] = 1;
            piece.push_back(next);
        });
    }
    return piece;
}

}  // namespace

Allocation fragmented_allocation(const Machine& machine, std::size_t node_count, std::size_t fragments,
                                 std::uint64_t seed) {
    const RouterGrid grid(machine);
    const std::size_t cells = (node_count + grid.nodes_per_cell() - 1) / grid.nodes_per_cell();
    if (node_count == 0) fail("an allocation needs at least one node");
    const std::vector<char> down = mark_down_cells(machine, grid);
    const auto open_cells = static_cast<std::size_t>(std::ranges::count(down, 0));
    if (node_count > open_cells * grid.nodes_per_cell()) {
        fail("cannot allocate ", node_count, " nodes: the machine has ", open_cells * grid.nodes_per_cell());
    }
    if (fragments == 0 || fragments > cells) {
        fail("cannot divide ", node_count, " nodes into ", fragments, " fragments; ask for 1 to ", cells,
             grid.nodes_per_cell() > 1 ? " (nodes of a router stay together)" : "");
    }
    Rng rng(seed);
    std::vector<char> used = down;
    std::vector<char> blocked = down;  // whether a cell is used or adjacent to a used cell
    std::size_t missing = cells;
    const auto take = [&](const std::vector<std::size_t>& piece) {
        for (const std::size_t cell : piece) {
            used[cell] = blocked[cell] = 1;
            grid.neighbors(cell, [&](std::size_t next) { blocked[next] = 1; });
        }
        missing -= piece.size();
    };
    std::vector<std::size_t> sizes = draw_sizes(cells, fragments, rng);
    std::sort(sizes.rbegin(), sizes.rend());  // place large fragments first, while many cells are free
    for (const std::size_t size : sizes) {
        constexpr int box_tries = 200;
        constexpr int flood_tries = 20;
        std::vector<std::size_t> piece;
        for (int attempt = 0; attempt < box_tries && piece.empty(); ++attempt) {
            const Cell corner = grid.cell(rng.below(static_cast<std::uint32_t>(grid.cells())));
            piece = take_box_cells(grid, corner, draw_shape(grid, size, rng), size, blocked);
        }
        for (int attempt = 0; attempt < flood_tries && piece.size() < size; ++attempt) {
            piece = grow_fragment(grid, size, blocked, rng);
        }
        if (piece.size() == size) take(piece);
    }
    while (missing > 0) take(grow_fragment(grid, missing, used, rng));  // without gaps

    std::vector<Node> nodes;
    for (std::size_t cell = 0; cell < grid.cells(); ++cell) {
        for (std::size_t k = 0;
             used[cell] && !down[cell] && k < grid.nodes_per_cell() && nodes.size() < node_count; ++k) {
            nodes.push_back(Node{cell * grid.nodes_per_cell() + k});
        }
    }
    return {machine, std::move(nodes)};
}

}  // namespace topoloom
