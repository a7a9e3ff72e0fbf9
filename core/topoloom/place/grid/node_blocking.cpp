// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/grid/node_blocking.hpp"

#include <algorithm>
#include <cmath>

#include "topoloom/base/parallel.hpp"
#include "topoloom/metric/node_map.hpp"
#include "topoloom/place/grid/box_blocking.hpp"

namespace topoloom::grid {

namespace {

/// Number of pairs of neighboring cells along an axis in the whole grid.
double count_neighbor_pairs(const RankGrid& grid, std::size_t axis) {
    const double extent = grid.extents[axis];
    const double around = grid.wrap_bytes[axis] > 0 ? 1 : 0;
    return static_cast<double>(grid.cells()) / extent * (extent - 1 + around);
}

/// The grid as a star pattern, whose weights count bytes in one direction.
GridPattern make_star_pattern(const RankGrid& grid) {
    GridPattern pattern;
    pattern.rank_of_cell = grid.rank_of_cell;
    pattern.uniform = true;
    pattern.weight = weigh_grid(grid).weight;
    for (double& weight : pattern.weight) weight /= 2;
    for (std::size_t i = 0; i < grid.axes(); ++i)
        pattern.axes.push_back({grid.extents[i], grid.wrap_bytes[i] > 0 ? AxisKind::ring : AxisKind::path});
    return pattern;
}

/// Tries orders of the cells and stores the best ones.
class BlockingSearch {
   public:
    BlockingSearch(const Problem& problem, const RankGrid& grid, const FilledNodes& nodes, Meter& meter)
        : problem_(problem),
          grid_(grid),
          nodes_(nodes),
          meter_(meter),
          weighted_(weigh_grid(grid)),
          cores_(*std::ranges::max_element(nodes.sizes)),
          tries_(std::clamp<std::size_t>(8'000'000 / (problem.graph().edge_count() + 1), 2, 200)) {}

    /// The orders with the fewest inter-node bytes among those tried; at most a few.
    std::vector<NodeBlocking> find_best() {
        const bool many = grid_.cells() > max_ranks_superlinear;
        if (nodes_.has_equal_sizes()) {
            const bool square = try_tiles();
            // With many ranks, other orders would take long and gain little.
            if (square && many) return std::move(found_);
            if (!many) try_boxes();
        }
        try_strips();
        if (!many) try_bisection();
        try_order(order_by_halving(weighted_));
        return std::move(found_);
    }

   private:
    void try_order(std::vector<GridCell> cells, const Extents& tile = {}) {
        constexpr std::size_t max_equals = 4;
        if (meter_.is_exhausted() && !found_.empty()) return;
        const std::int64_t bytes = count_inter_node_bytes(cells);
        meter_.spend(cells.size());
        if (!found_.empty() && bytes < found_.front().inter_node_bytes) found_.clear();
        if (found_.empty() || (bytes == found_.front().inter_node_bytes && found_.size() < max_equals))
            found_.push_back({std::move(cells), tile, bytes});
    }

    [[nodiscard]] std::int64_t count_inter_node_bytes(const std::vector<GridCell>& cells) const {
        std::vector<Node> node_of_rank(cells.size());
        std::size_t next = 0;
        for (std::size_t node = 0; node < nodes_.sizes.size(); ++node) {
            for (std::uint32_t i = 0; i < nodes_.sizes[node]; ++i)
                node_of_rank[grid_.rank_of_cell[cells[next++].value].value] = nodes_.nodes[node];
        }
        return inter_node_bytes(problem_.graph(), node_of_rank, problem_.threads());
    }

    /// Tries tiles; returns whether the best tile's surface is close to that of a cube.
    bool try_tiles() {
        const std::vector<Extents> tiles = node_tiles(weighted_, cores_);
        for (std::size_t i = 0; i < std::min(tiles.size(), tries_); ++i)
            try_order(order_by_tiles(grid_.extents, tiles[i]), tiles[i]);
        if (tiles.empty()) return false;
        const double axes = static_cast<double>(grid_.axes());
        const double side_cost = std::pow(weight_product() / cores_, 1 / axes);
        return tile_surface(tiles.front(), weighted_.weight) <= 1.2 * axes * cores_ * side_cost;
    }

    void try_boxes() {
        const GridPattern pattern = make_star_pattern(grid_);
        BoxBlocking boxes(pattern, {{cores_, 0}, {nodes_.sizes.size(), 1}});
        if (!boxes.cost(grid_.extents)) return;
        std::vector<GridCell> cells;
        boxes.list_cells(grid_.extents, GridCell{0}, cells);
        try_order(std::move(cells));
    }

    /// Tries strips along every axis. Strips are about as wide as the cheapest box for the cells of one node,
    /// whose sides are proportional to the weights.
    void try_strips() {
        const double scale = std::pow(cores_ / weight_product(), 1 / static_cast<double>(grid_.axes()));
        for (std::size_t along = 0; along < grid_.axes(); ++along) {
            std::vector<std::size_t> axes{along};
            for (std::size_t i = 0; i < grid_.axes(); ++i) {
                if (i != along) axes.push_back(i);
            }
            // Traverses each layer in both orders of the remaining axes.
            for (const bool reversed : {false, true}) {
                if (reversed && (axes.size() < 3 || grid_.cells() > max_ranks_superlinear)) continue;
                if (reversed) std::reverse(axes.begin() + 1, axes.end());
                Extents strips(grid_.axes(), 1);
                std::size_t left = std::max<std::size_t>(1, tries_ / grid_.axes());
                try_widths(0, axes, scale, strips, left);
            }
        }
    }

    [[nodiscard]] double weight_product() const {
        double product = 1;
        for (const double weight : weighted_.weight) product *= std::max(weight, 1e-9);
        return product;
    }

    void try_widths(std::size_t axis, const std::vector<std::size_t>& axes, double scale, Extents& strips,
                    std::size_t& left) {
        if (left == 0) return;
        if (axis == grid_.axes()) {
            --left;
            try_order(order_by_strips(grid_.extents, axes, strips));
            return;
        }
        if (axis == axes.front()) return try_widths(axis + 1, axes, scale, strips, left);
        const double extent = grid_.extents[axis];
        const double ideal = extent / std::max(1.0, scale * weighted_.weight[axis]);
        const auto nearest = static_cast<std::uint32_t>(std::max(1.0, std::round(ideal)));
        // Tries n, n + 1, n - 1, ..., where n is the nearest integer to the ideal.
        for (std::uint32_t i = 0; i < 2 * nearest; ++i) {
            const std::uint32_t count = i % 2 == 0 ? nearest - i / 2 : nearest + (i + 1) / 2;
            if (count == 0 || count > grid_.extents[axis]) continue;
            strips[axis] = count;
            try_widths(axis + 1, axes, scale, strips, left);
            if (left == 0) return;
        }
    }

    void try_bisection() {
        std::vector<GridCell> cells = id_list<GridCell>(grid_.cells());
        bisect_cells(weighted_, cells, nodes_.sizes);
        try_order(std::move(cells));
    }

    const Problem& problem_;
    const RankGrid& grid_;
    const FilledNodes& nodes_;
    Meter& meter_;
    WeightedGrid weighted_;
    std::uint32_t cores_;
    std::size_t tries_;
    std::vector<NodeBlocking> found_;
};

}  // namespace

FilledNodes::FilledNodes(const Problem& problem) : slots(problem.allocation().nodes().size()) {
    const Allocation& allocation = problem.allocation();
    for (std::size_t i = 0; i < problem.rank_count(); ++i)
        slots[allocation.node_of_slot()[i]].push_back(allocation.slots()[i]);
    std::erase_if(slots, [](const auto& node) { return node.empty(); });
    for (auto& node : slots) {
        std::ranges::sort(node);
        sizes.push_back(static_cast<std::uint32_t>(node.size()));
        nodes.push_back(problem.machine().node(node.front()));
    }
}

bool FilledNodes::has_equal_sizes() const {
    return std::ranges::adjacent_find(sizes, std::not_equal_to<>{}) == sizes.end();
}

std::vector<NodeBlocking> find_best_blockings(const Problem& problem, const RankGrid& grid,
                                              const FilledNodes& nodes, Meter& meter) {
    return BlockingSearch(problem, grid, nodes, meter).find_best();
}

WeightedGrid weigh_grid(const RankGrid& grid) {
    WeightedGrid found{grid.extents, {}};
    for (std::size_t i = 0; i < grid.axes(); ++i) {
        const double pairs = count_neighbor_pairs(grid, i);
        found.weight.push_back(pairs > 0 ? (grid.bytes[i] + grid.wrap_bytes[i]) / pairs : 0);
    }
    return found;
}

std::int64_t inter_node_bytes(const CommGraph& graph, std::span<const Node> node_of_rank, int threads) {
    const Chunks chunks(node_of_rank.size(), 1U << 14);
    return parallel_sum<std::int64_t>(chunks, threads, [&](Chunk chunk) {
        std::int64_t sum = 0;
        for (std::size_t u = chunk.begin; u < chunk.end; ++u) {
            const Rank rank{static_cast<std::uint32_t>(u)};
            const auto peers = graph.peers(rank);
            const auto bytes = graph.bytes(rank);
            for (std::size_t e = 0; e < peers.size(); ++e) {
                if (node_of_rank[peers[e].value] != node_of_rank[u]) sum += bytes[e].value;
            }
        }
        return sum;
    });
}

}  // namespace topoloom::grid
