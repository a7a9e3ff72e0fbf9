// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/metric/node_map.hpp"

#include <algorithm>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

/// Locates the lines of grid cells along one axis.
struct AxisLines {
    std::uint32_t extent;
    std::uint32_t stride;

    [[nodiscard]] std::uint32_t at(std::size_t cell) const {
        return static_cast<std::uint32_t>(cell / stride % extent);
    }
};

/// Counts the rounds that stay inside nodes. In round s of a binomial tree, counted from the last round of a
/// bcast, every 2^(s+1)-th cell of a line sends to the cell at distance 2^s.
std::uint32_t count_inner_rounds(const AxisLines& lines, std::span<const std::uint32_t> node_of_cell) {
    std::uint32_t rounds = 0;
    for (std::uint64_t step = 1; step < lines.extent; step *= 2, ++rounds) {
        for (std::size_t cell = 0; cell < node_of_cell.size(); ++cell) {
            const std::uint32_t x = lines.at(cell);
            if (x % (2 * step) == 0 && x + step < lines.extent &&
                node_of_cell[cell] != node_of_cell[cell + step * lines.stride])
                return rounds;
        }
    }
    return rounds;
}

}  // namespace

std::uint32_t NodeMap::external_links(std::size_t axis) const {
    return *std::ranges::max_element(leaving[axis]);
}

std::uint32_t NodeMap::external_links() const {
    std::uint32_t sum = 0;
    for (std::size_t axis = 0; axis < leaving.size(); ++axis) sum += external_links(axis);
    return sum;
}

NodeMap node_map(const Extents& extents, std::span<const std::uint32_t> node_of_cell) {
    const std::uint64_t cells = cell_count(extents);
    if (extents.empty() || cells != node_of_cell.size()) {
        fail("the grid ", extents.empty() ? "without axes" : format_extents(extents), " has ", cells,
             " cells, but nodes are given for ", node_of_cell.size());
    }
    if (cells == 0) fail("a grid of ", format_extents(extents), " has no cells");
    const std::uint32_t last = *std::ranges::max_element(node_of_cell);
    if (last >= cells)
        fail("a cell is on node ", last, ", but ", cells, " cells are on at most ", cells,
             " nodes; number the nodes that have cells from 0");
    const std::uint32_t nodes = last + 1;
    NodeMap map{extents, {}, {}};
    std::uint32_t stride = 1;
    for (std::size_t axis = extents.size(); axis-- > 0;) {
        const AxisLines lines{extents[axis], stride};
        std::vector<std::uint32_t> leaving(nodes, 0);
        for (std::size_t cell = 0; cell < cells; ++cell) {
            const std::uint32_t node = node_of_cell[cell];
            if (lines.at(cell) + 1 < lines.extent && node_of_cell[cell + stride] != node) ++leaving[node];
        }
        map.leaving.insert(map.leaving.begin(), std::move(leaving));
        map.inner_rounds.insert(map.inner_rounds.begin(), count_inner_rounds(lines, node_of_cell));
        stride *= extents[axis];
    }
    return map;
}

double tile_surface(const Extents& tile, std::span<const double> weight) {
    double sum = 0;
    for (std::size_t d = 0; d < tile.size(); ++d) {
        double links = weight.empty() ? 1 : weight[d];
        for (std::size_t j = 0; j < tile.size(); ++j) links *= j == d ? 1 : tile[j];
        sum += links;
    }
    return sum;
}

}  // namespace topoloom
