// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/grid/tile.hpp"

#include <algorithm>
#include <limits>

#include "topoloom/metric/hop_bytes.hpp"
#include "topoloom/place/effort.hpp"
#include "topoloom/place/grid/grid_folding.hpp"
#include "topoloom/place/grid/node_blocking.hpp"
#include "topoloom/place/grid/slot_grid.hpp"
#include "topoloom/place/mapper_entry.hpp"
#include "topoloom/place/preparation.hpp"

namespace topoloom::grid {

namespace {

/// Places a piece of the grid on the slots of its node: by bisection along the node's levels if their
/// distances differ, else in rank order.
class PiecePlacer {
   public:
    PiecePlacer(const Machine& machine, const RankGrid& grid) : grid_(grid), weighted_(weigh_grid(grid)) {
        const Levels& levels = machine.node_spec().levels;
        std::uint32_t span = 1;
        for (std::uint32_t j = 0; j + 1 < levels.count(); ++j) {
            span *= levels.arity()[j];
            if (levels.distances()[j] != levels.distances()[j + 1]) spans_.push_back(span);
        }
    }

    void place_piece(std::span<GridCell> cells, std::span<const Slot> slots,
                     std::vector<Slot>& slot_of_rank) const {
        place_piece(cells, slots, slot_of_rank, spans_.size());
    }

   private:
    void place_piece(std::span<GridCell> cells, std::span<const Slot> slots, std::vector<Slot>& slot_of_rank,
                     std::size_t level) const {
        if (level == 0) {
            std::ranges::sort(cells, {}, [&](GridCell cell) { return grid_.rank_of_cell[cell.value]; });
            for (std::size_t i = 0; i < cells.size(); ++i)
                slot_of_rank[grid_.rank_of_cell[cells[i].value].value] = slots[i];
            return;
        }
        std::vector<std::uint32_t> sizes;
        const std::uint32_t span = spans_[level - 1];
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (i == 0 || slots[i].value / span != slots[i - 1].value / span) sizes.push_back(0);
            ++sizes.back();
        }
        bisect_cells(weighted_, cells, sizes);
        std::size_t first = 0;
        for (const std::uint32_t size : sizes) {
            place_piece(cells.subspan(first, size), slots.subspan(first, size), slot_of_rank, level - 1);
            first += size;
        }
    }

    const RankGrid& grid_;
    WeightedGrid weighted_;
    std::vector<std::uint32_t> spans_;  // slots per group, for levels that change distances
};

/// Stores the placement with the fewest inter-node bytes; among these, the one with the fewest hop-bytes.
class BestPlacement {
   public:
    BestPlacement(const Problem& problem, const RankGrid& grid, const FilledNodes& nodes, Meter& meter)
        : problem_(problem), grid_(grid), nodes_(nodes), meter_(meter), inside_(problem.machine(), grid) {}

    void try_slots(std::vector<Slot> slots) {
        std::vector<Node> node_of_rank;
        node_of_rank.reserve(slots.size());
        for (const Slot slot : slots) node_of_rank.push_back(problem_.machine().node(slot));
        const std::int64_t between = inter_node_bytes(problem_.graph(), node_of_rank, problem_.threads());
        meter_.spend(slots.size());
        if (between > between_) return;
        const std::int64_t value = hop_bytes(problem_.graph(), problem_.machine(), slots, problem_.threads());
        if (between == between_ && value >= value_) return;
        between_ = between;
        value_ = value;
        slots_ = std::move(slots);
    }

    void try_blocking(NodeBlocking blocking) {
        const auto in_order = [&](std::size_t piece) { return std::span<const Slot>(nodes_.slots[piece]); };
        try_pieces(blocking.cells, in_order);
        if (blocking.tile.empty()) return;
        WeightedGrid tiles = weigh_grid(grid_);
        for (std::size_t i = 0; i < blocking.tile.size(); ++i) {
            tiles.extents[i] /= blocking.tile[i];
            tiles.weight[i] *= static_cast<double>(nodes_.sizes[0]) / blocking.tile[i];
        }
        try_halves(tiles, blocking.cells);
        try_foldings(tiles, blocking.cells);
    }

    /// Searches for a better order of the nodes. Requires that pieces have equal sizes, except for a smaller
    /// last one.
    void try_searched_order(const NodeBlocking& blocking) {
        constexpr std::size_t max_nodes = 1000;  // limit of nodes, for which the search takes about 0.1 s
        const Machine& machine = problem_.machine();
        const std::uint32_t cores = nodes_.sizes[0];
        const auto last =
            std::ranges::find_if(nodes_.sizes, [&](std::uint32_t size) { return size != cores; });
        const auto count = static_cast<std::size_t>(last - nodes_.sizes.begin());
        if (cores == 1 || count > max_nodes || count + 1 < nodes_.sizes.size() || meter_.is_exhausted())
            return;
        std::vector<Slot> first;
        std::vector<std::uint32_t> index_of(machine.node_count());
        std::uint32_t nearest = machine.max_distance();
        for (std::uint32_t i = 0; i < count; ++i) {
            first.push_back(nodes_.slots[i].front());
            index_of[machine.node(first.back()).value] = i;
            if (i > 0) nearest = std::min(nearest, machine.distance(first[0], first[i]));
        }
        if (value_ <= between_ * nearest) return;  // no order can be better
        const CommGraph pieces = make_piece_graph(blocking, count, cores);
        const Allocation nodes = Allocation::of_slots(machine, first);
        const Placement found = place(Problem(pieces, nodes, problem_.seed(), problem_.threads()),
                                      auto_chain(Effort::fast), meter_);
        std::vector<GridCell> cells = blocking.cells;
        try_pieces(cells, [&](std::size_t piece) {
            if (piece >= count) return std::span<const Slot>(nodes_.slots[piece]);
            const Slot slot = found[Rank{static_cast<std::uint32_t>(piece)}];
            return std::span<const Slot>(nodes_.slots[index_of[machine.node(slot).value]]);
        });
    }

    [[nodiscard]] Placement placement() { return {problem_.allocation(), std::move(slots_)}; }

   private:
    /// The communication graph of the first `count` pieces.
    [[nodiscard]] CommGraph make_piece_graph(const NodeBlocking& blocking, std::size_t count,
                                             std::uint32_t cores) const {
        std::vector<Rank> piece_of(grid_.cells());
        for (std::uint32_t i = 0; i < blocking.cells.size(); ++i)
            piece_of[grid_.rank_of_cell[blocking.cells[i].value].value] = Rank{i / cores};
        std::vector<Rank> from;
        std::vector<Rank> to;
        std::vector<Bytes> bytes;
        for (const Rank u : ids<Rank>(piece_of.size())) {
            for (const Edge edge : problem_.graph().sends(u)) {
                const Rank a = piece_of[u.value];
                const Rank b = piece_of[edge.peer.value];
                if (a == b || a.value >= count || b.value >= count) continue;
                from.push_back(a);
                to.push_back(b);
                bytes.push_back(edge.bytes);
            }
        }
        return CommGraph::from_edges(count, from, to, bytes);
    }

    /// Places each piece on the slots that `slots_of` returns for it.
    template <class SlotsOf>
    void try_pieces(std::span<GridCell> cells, const SlotsOf& slots_of) {
        std::vector<Slot> slots(cells.size());
        for (std::size_t piece = 0, first = 0; first < cells.size(); ++piece) {
            const std::span<const Slot> taken = slots_of(piece);
            inside_.place_piece(cells.subspan(first, taken.size()), taken, slots);
            first += taken.size();
        }
        try_slots(std::move(slots));
    }

    /// Assigns tiles to nodes by recursive halving of the grid, so that consecutive nodes, such as those of
    /// one switch, get nearby tiles.
    void try_halves(const WeightedGrid& tiles, std::span<GridCell> cells) {
        const std::vector<GridCell> order = order_by_halving(tiles);
        std::vector<std::uint32_t> node_of_tile(order.size());
        for (std::uint32_t node = 0; node < order.size(); ++node) node_of_tile[order[node].value] = node;
        try_pieces(cells,
                   [&](std::size_t tile) { return std::span<const Slot>(nodes_.slots[node_of_tile[tile]]); });
    }

    /// Folds the tiles onto the axes of a torus, one tile per router.
    void try_foldings(const WeightedGrid& tiles, std::span<GridCell> cells) {
        const std::size_t keep =
            std::clamp<std::size_t>(4'000'000 / (problem_.graph().edge_count() + 1), 1, 4);
        constexpr std::size_t most = 600;
        const std::size_t cores = nodes_.sizes[0];
        const auto routers = slot_grid(problem_.allocation(), problem_.rank_count());
        if (!routers || routers->slots_per_router != cores) return;
        std::vector<FoldedAxis> axes;
        for (std::size_t i = 0; i < tiles.extents.size(); ++i) {
            const std::uint32_t count = tiles.extents[i];
            const bool ring = grid_.wrap_bytes[i] > 0 && count > 2;
            const double planes = ring ? count : count - 1;
            const double faces = static_cast<double>(cells.size() / cores) / count;
            axes.push_back({count, ring ? AxisKind::ring : AxisKind::path, planes * faces * tiles.weight[i]});
        }
        for (const Folding& folding : list_foldings(axes, routers->extent, routers->wraps, keep, most)) {
            for (const Reflection reflection : {Reflection::rows, Reflection::nested}) {
                if (meter_.is_exhausted() ||
                    (reflection == Reflection::nested && !folding.has_nested_digits()))
                    continue;
                Extents at(axes.size());
                Extents coordinates(routers->extent.size(), 0);
                try_pieces(cells, [&](std::size_t tile) {
                    for (std::size_t i = axes.size(); i-- > 0; tile /= axes[i].extent)
                        at[i] = static_cast<std::uint32_t>(tile % axes[i].extent);
                    folding.locate_block(at, reflection, coordinates);
                    std::size_t router = 0;
                    for (std::size_t d = 0; d < coordinates.size(); ++d)
                        router = router * routers->extent[d] + coordinates[d];
                    return std::span<const Slot>(routers->slots).subspan(router * cores, cores);
                });
            }
        }
    }

    const Problem& problem_;
    const RankGrid& grid_;
    const FilledNodes& nodes_;
    Meter& meter_;
    PiecePlacer inside_;
    std::int64_t between_ = std::numeric_limits<std::int64_t>::max();
    std::int64_t value_ = 0;
    std::vector<Slot> slots_;
};

}  // namespace

Placement place_tile(const Problem& problem, Meter& meter, const GridOptions& options) {
    if (options.grid.empty() && !charge_preparation(meter, problem)) return fall_back_to_block(problem);
    return place_grid_in_tiles(problem, rank_grid(problem, options.grid, "tile"), meter);
}

Placement place_grid_in_tiles(const Problem& problem, const RankGrid& grid, Meter& meter) {
    const FilledNodes nodes(problem);
    BestPlacement best(problem, grid, nodes, meter);
    const auto block = problem.allocation().slots().first(problem.rank_count());
    best.try_slots({block.begin(), block.end()});
    const std::vector<NodeBlocking> blockings = find_best_blockings(problem, grid, nodes, meter);
    bool tiled = false;
    for (const NodeBlocking& blocking : blockings) {
        tiled = tiled || !blocking.tile.empty();
        best.try_blocking(blocking);
    }
    if (problem.rank_count() <= max_ranks_superlinear) best.try_searched_order(blockings.front());
    // Also tries `structure`, which considers more of the network: with equal inter-node bytes, its hop-bytes
    // may be fewer. Its pieces differ between nodes.
    if (!tiled && problem.rank_count() <= max_ranks_superlinear && !meter.is_exhausted()) {
        const Placement structured = place(problem, "structure", meter);
        best.try_slots({structured.slots().begin(), structured.slots().end()});
    }
    return best.placement();
}

MapperEntry tile_mapper() {
    return mapper_entry<place_tile>(
        {.name = "tile",
         .summary = "a compact piece of the ranks' grid for every node: tiles, boxes, strips or halves of it",
         .source = "Karlsson 2012, ch. 5; Hunold et al. 2020",
         .needs = "grid of ranks, nodes",
         .occupancy = Occupancy::alone});
}

}  // namespace topoloom::grid
