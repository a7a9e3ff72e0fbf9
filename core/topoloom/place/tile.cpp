// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/tile.hpp"

#include <algorithm>
#include <limits>

#include "topoloom/metric/hop_bytes.hpp"
#include "topoloom/place/grid_folding.hpp"
#include "topoloom/place/node_blocking.hpp"
#include "topoloom/place/slot_grid.hpp"
#include "topoloom/place/structure.hpp"

namespace topoloom {

namespace {

/// A piece of the grid on the slots of its node: along the levels in which slots differ, else in the ranks' order.
class InsideNode {
   public:
    InsideNode(const Machine& machine, const RankGrid& grid) : grid_(grid), weighted_(weighted(grid)) {
        const Levels& levels = machine.inside().levels;
        std::uint32_t span = 1;
        for (std::uint32_t j = 0; j + 1 < levels.count(); ++j) {
            span *= levels.arity()[j];
            if (levels.distances()[j] != levels.distances()[j + 1]) spans_.push_back(span);
        }
    }

    void settle(std::span<std::uint32_t> cells, std::span<const Slot> slots,
                std::vector<Slot>& slot_of_rank) const {
        settle(cells, slots, slot_of_rank, spans_.size());
    }

   private:
    void settle(std::span<std::uint32_t> cells, std::span<const Slot> slots, std::vector<Slot>& slot_of_rank,
                std::size_t level) const {
        if (level == 0) {
            std::ranges::sort(cells, {}, [&](std::uint32_t cell) { return grid_.rank_of_cell[cell]; });
            for (std::size_t i = 0; i < cells.size(); ++i)
                slot_of_rank[grid_.rank_of_cell[cells[i]].value] = slots[i];
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
            settle(cells.subspan(first, size), slots.subspan(first, size), slot_of_rank, level - 1);
            first += size;
        }
    }

    const RankGrid& grid_;
    WeightedGrid weighted_;
    std::vector<std::uint32_t> spans_;  // slots of a group of every level below the node
};

/// Keeps the placement of the fewest bytes between nodes, then of the least hop-bytes.
class Nearest {
   public:
    Nearest(const Problem& problem, const RankGrid& grid, const FilledNodes& nodes, Meter& meter)
        : problem_(problem), grid_(grid), nodes_(nodes), meter_(meter), inside_(problem.machine(), grid) {}

    void try_slots(std::vector<Slot> slots) {
        std::vector<std::uint32_t> node_of_rank;
        node_of_rank.reserve(slots.size());
        for (const Slot slot : slots) node_of_rank.push_back(problem_.machine().node(slot).value);
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
        std::vector<Slot> slots(grid_.cells());
        std::size_t first = 0;
        for (const auto& node : nodes_.slots) {
            inside_.settle(std::span(blocking.cells).subspan(first, node.size()), node, slots);
            first += node.size();
        }
        if (!blocking.tile.empty()) try_foldings(blocking.tile);
        try_slots(std::move(slots));
    }

    [[nodiscard]] Placement placement() { return {problem_.allocation(), std::move(slots_)}; }

   private:
    /// The tiles on the axes of a torus, one a router.
    void try_foldings(const Extents& tile) {
        const std::size_t keep =
            std::clamp<std::size_t>(4'000'000 / (problem_.graph().edge_count() + 1), 1, 4);
        constexpr std::size_t most = 600;
        const auto routers = slot_grid(problem_.allocation(), problem_.rank_count());
        if (!routers || routers->slots_per_router != nodes_.sizes[0]) return;
        std::vector<FoldedAxis> axes;
        for (std::size_t i = 0; i < tile.size(); ++i) {
            const std::uint32_t count = grid_.extents[i] / tile[i];
            const bool ring = grid_.wrap_bytes[i] > 0 && count > 2;
            const double between = grid_.extents[i] > 1 ? grid_.bytes[i] / (grid_.extents[i] - 1) : 0;
            axes.push_back({count, ring ? AxisKind::ring : AxisKind::path,
                            between * (count - 1) + (count > 1 ? grid_.wrap_bytes[i] : 0)});
        }
        std::vector<std::uint32_t> cells = tile_order(grid_.extents, tile);
        for (const Folding& folding : list_foldings(axes, routers->extent, routers->wraps, keep, most)) {
            for (const bool reflect : {false, true}) {
                if (meter_.exhausted() || (reflect && !folding.nests())) continue;
                std::vector<Slot> slots(cells.size());
                Extents at(tile.size(), 0);
                std::vector<std::uint32_t> position(routers->extent.size(), 0);
                for (std::size_t first = 0; first < cells.size(); first += nodes_.sizes[0]) {
                    folding.place(at, reflect, position);
                    std::size_t router = 0;
                    for (std::size_t d = 0; d < position.size(); ++d)
                        router = router * routers->extent[d] + position[d];
                    inside_.settle(
                        std::span(cells).subspan(first, nodes_.sizes[0]),
                        std::span(routers->slots).subspan(router * nodes_.sizes[0], nodes_.sizes[0]), slots);
                    for (std::size_t i = at.size(); i-- > 0;) {
                        if (++at[i] < axes[i].extent) break;
                        at[i] = 0;
                    }
                }
                try_slots(std::move(slots));
            }
        }
    }

    const Problem& problem_;
    const RankGrid& grid_;
    const FilledNodes& nodes_;
    Meter& meter_;
    InsideNode inside_;
    std::int64_t between_ = std::numeric_limits<std::int64_t>::max();
    std::int64_t value_ = 0;
    std::vector<Slot> slots_;
};

}  // namespace

Placement place_tile(const Problem& problem, Meter& meter, const TileOptions& options) {
    const RankGrid grid = rank_grid(problem, options.grid, "tile");
    const FilledNodes nodes(problem);
    Nearest nearest(problem, grid, nodes, meter);
    const auto block = problem.allocation().slots().first(problem.rank_count());
    nearest.try_slots({block.begin(), block.end()});
    for (NodeBlocking& blocking : best_blockings(problem, grid, nodes, meter))
        nearest.try_blocking(std::move(blocking));
    // It knows more of the network, which counts among equals.
    if (problem.rank_count() <= few_ranks && !meter.exhausted()) {
        const Placement structured = place_structure(problem, meter);
        nearest.try_slots({structured.slots().begin(), structured.slots().end()});
    }
    return nearest.placement();
}

}  // namespace topoloom
