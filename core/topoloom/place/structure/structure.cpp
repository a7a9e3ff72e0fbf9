// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/structure/structure.hpp"

#include <algorithm>
#include <limits>

#include "topoloom/metric/hop_bytes.hpp"
#include "topoloom/place/grid/grid_folding.hpp"
#include "topoloom/place/grid/grid_lines.hpp"
#include "topoloom/place/grid/paired_halving.hpp"
#include "topoloom/place/grid/slot_grid.hpp"
#include "topoloom/place/mapper_entry.hpp"
#include "topoloom/place/preparation.hpp"
#include "topoloom/place/simple/launcher_orders.hpp"
#include "topoloom/place/structure/binomial_tree.hpp"
#include "topoloom/place/structure/place_hub.hpp"

namespace topoloom::structure {

namespace {

/// At least this many attempts are made for each kind of placement, however large the pattern.
constexpr std::size_t fewest_tries = 2;

/// Stores the best of the placements tried.
class BestPlacement {
   public:
    BestPlacement(const Problem& problem, Meter& meter)
        : problem_(problem),
          meter_(meter),
          bound_(problem.graph().total_bytes().value * std::int64_t{grid::min_distance(problem.machine())}) {}

    void try_slots(std::vector<Slot> slots) {
        // Threads cost more than they gain on small graphs.
        const int threads = problem_.graph().edge_count() < 100'000 ? 1 : problem_.threads();
        const std::int64_t value = hop_bytes(problem_.graph(), problem_.machine(), slots, threads);
        meter_.spend(slots.size());
        if (value >= value_) return;
        value_ = value;
        slots_ = std::move(slots);
    }
    /// Whether further attempts are pointless.
    [[nodiscard]] bool is_done() const { return value_ <= bound_ || meter_.is_exhausted(); }
    [[nodiscard]] bool is_optimal() const { return value_ <= bound_; }
    /// Returns the best placement and resets it.
    [[nodiscard]] Placement placement() { return {problem_.allocation(), std::move(slots_)}; }

   private:
    const Problem& problem_;
    Meter& meter_;
    std::int64_t bound_;  // cost if every message had the smallest possible distance
    std::int64_t value_ = std::numeric_limits<std::int64_t>::max();
    std::vector<Slot> slots_;
};

/// Divides the pattern into equal blocks, one per router, and folds the blocks onto the routers.
class BlockFolding {
   public:
    BlockFolding(const GridPattern& pattern, const grid::SlotGrid& grid)
        : pattern_(pattern),
          grid_(grid),
          blocking_(pattern, grid.inside),
          stride_(strides_of(pattern.axes)) {}

    /// Tries up to `tries` foldings, best estimates first. Returns true if no other attempts are necessary.
    bool try_all(std::size_t tries, BestPlacement& best) {
        Extents block;
        list_blocks(block, grid_.slots_per_router, tries);
        std::stable_sort(candidates_.begin(), candidates_.end(),
                         [](const Candidate& a, const Candidate& b) { return a.estimate < b.estimate; });
        if (candidates_.size() > tries) candidates_.resize(tries);
        for (const Candidate& candidate : candidates_) {
            if (best.is_done()) return false;
            best.try_slots(list_slots(candidate, grid::Reflection::rows));
            if (candidate.folding.is_plain() && estimates_are_exact()) return plain_ = true;
            if (candidate.folding.has_nested_digits() && !best.is_done())
                best.try_slots(list_slots(candidate, grid::Reflection::nested));
        }
        // If attempts are expensive, foldings suffice: alternatives rarely beat them.
        return tries == fewest_tries && !candidates_.empty();
    }

    /// Whether a plain folding was found.
    [[nodiscard]] bool has_plain_folding() const { return plain_; }

   private:
    struct Candidate {
        Extents block;
        grid::Folding folding;
        double estimate;
    };

    /// Adds candidates for all blocks of `ranks` ranks whose extents divide the pattern's extents.
    void list_blocks(Extents& block, std::uint64_t ranks, std::size_t tries) {
        const std::size_t i = block.size();
        if (i == pattern_.axes.size()) {
            if (ranks == 1) add_candidates(block, tries);
            return;
        }
        const std::uint32_t extent = pattern_.axes[i].extent;
        for (std::uint32_t size = 1; size <= std::min<std::uint64_t>(extent, ranks); ++size) {
            if (extent % size != 0 || ranks % size != 0) continue;
            block.push_back(size);
            list_blocks(block, ranks / size, tries);
            block.pop_back();
        }
    }

    void add_candidates(const Extents& block, std::size_t tries) {
        if (++blocks_seen_ > max_blocks) return;
        const std::optional<double> inside = blocking_.cost(block);
        if (!inside) return;
        std::vector<grid::FoldedAxis> axes;
        double blocks = 1;
        for (std::size_t i = 0; i < block.size(); ++i) {
            const auto [extent, kind] = pattern_.axes[i];
            const std::uint32_t count = extent / block[i];
            blocks *= count;
            const AxisKind folded = kind == AxisKind::ring && count == 2 ? AxisKind::path : kind;
            axes.push_back({count, folded, count_bytes_leaving(i, block[i])});
        }
        const std::size_t most = std::clamp<std::size_t>(pattern_.rank_of_cell.size(), 600, 4'000);
        for (grid::Folding& folding : grid::list_foldings(axes, grid_.extent, grid_.wraps, tries, most)) {
            const double estimate = folding.score + *inside * blocks;
            candidates_.push_back({block, std::move(folding), estimate});
        }
    }

    /// Bytes of all messages along an axis that leave their block, if blocks have extent `block`.
    [[nodiscard]] double count_bytes_leaving(std::size_t axis, std::uint32_t block) const {
        const PatternAxis& own = pattern_.axes[axis];
        double bytes = 0;
        for (std::size_t c = 0; c < pattern_.weight.size(); ++c) {
            const auto moves = [&](std::size_t i) {
                return pattern_.shape == StencilShape::star ? c == i : (c >> i & 1U) != 0;
            };
            if (!moves(axis)) continue;
            double pairs = pattern_.weight[c];
            for (std::size_t i = 0; i < pattern_.axes.size(); ++i) {
                const auto [extent, kind] = pattern_.axes[i];
                if (i != axis) pairs *= moves(i) ? count_partner_pairs(kind, extent, true) : extent;
            }
            bytes += pairs;
        }
        const double all = count_partner_pairs(own.kind, own.extent, true);
        const double inside = count_partner_pairs(own.kind, block, block == own.extent);
        return bytes * (all - inside * own.extent / block);
    }

    [[nodiscard]] std::vector<Slot> list_slots(const Candidate& candidate,
                                               grid::Reflection reflection) const {
        std::vector<GridCell> inside;  // cells of the first block, in slot order
        blocking_.list_cells(candidate.block, GridCell{0}, inside);
        std::vector<Slot> slots(pattern_.rank_of_cell.size());
        Extents at(candidate.block.size(), 0);
        Extents coordinates(grid_.extent.size(), 0);
        for (std::size_t blocks = slots.size() / inside.size(); blocks > 0; --blocks) {
            candidate.folding.locate_block(at, reflection, coordinates);
            std::uint64_t router = 0;
            for (std::size_t d = 0; d < coordinates.size(); ++d)
                router = router * grid_.extent[d] + coordinates[d];
            std::uint32_t origin = 0;
            for (std::size_t i = 0; i < at.size(); ++i) origin += at[i] * candidate.block[i] * stride_[i];
            for (std::size_t k = 0; k < inside.size(); ++k) {
                const Rank rank = pattern_.rank_of_cell[origin + inside[k].value];
                slots[rank.value] = grid_.slots[router * grid_.slots_per_router + k];
            }
            for (std::size_t i = at.size(); i-- > 0;) {
                if (++at[i] < pattern_.axes[i].extent / candidate.block[i]) break;
                at[i] = 0;
            }
        }
        return slots;
    }

    /// With one rank per router, or all ranks in one router, the computed costs of plain foldings and of
    /// boxes are exact.
    [[nodiscard]] bool estimates_are_exact() const {
        return pattern_.uniform && !grid_.has_ports &&
               (grid_.slots_per_router == 1 || grid_.slots_per_router == pattern_.rank_of_cell.size());
    }

    static constexpr std::size_t max_blocks = 200;

    const GridPattern& pattern_;
    const grid::SlotGrid& grid_;
    grid::BoxBlocking blocking_;
    Extents stride_;
    std::vector<Candidate> candidates_;
    std::size_t blocks_seen_ = 0;
    bool plain_ = false;
};

grid::GridPoints list_cell_points(const GridPattern& pattern) {
    grid::GridPoints cells;
    const Extents stride = strides_of(pattern.axes);
    for (const PatternAxis& axis : pattern.axes) cells.extent.push_back(axis.extent);
    cells.at.reserve(pattern.rank_of_cell.size() * stride.size());
    for (const GridCell cell : ids<GridCell>(pattern.rank_of_cell.size())) {
        for (std::size_t i = 0; i < stride.size(); ++i)
            cells.at.push_back(cell.value / stride[i] % cells.extent[i]);
    }
    return cells;
}

/// The coordinates of the slots' nodes, slot by slot.
grid::GridPoints list_slot_points(const Machine& machine, const std::vector<Slot>& slots) {
    grid::GridPoints points{machine.grid(), {}};
    for (const Slot slot : slots) {
        const auto at = machine.coordinates(machine.node(slot));
        points.at.insert(points.at.end(), at.begin(), at.end());
    }
    return points;
}

/// Halves pattern and slots together, in all variants if `tries` permits.
void try_halving(const Problem& problem, const GridPattern& pattern, std::size_t tries, BestPlacement& best) {
    const bool spare = problem.rank_count() < problem.allocation().slot_count();
    for (const grid::CutChoice cuts : {grid::CutChoice::by_shape, grid::CutChoice::by_cost}) {
        for (const grid::SlotChoice choice : {grid::SlotChoice::by_number, grid::SlotChoice::hilbert}) {
            if (best.is_done() || (choice == grid::SlotChoice::hilbert && !spare)) continue;
            if (cuts == grid::CutChoice::by_cost && pattern.axes.size() * 4 > tries) continue;
            best.try_slots(
                grid::place_by_halving(pattern, problem.symmetric(), problem.allocation(), choice, cuts));
        }
    }
}

/// Matches lines through the rank grid with lines through the slots, which is good if both have almost the
/// same shape.
void try_lines(const Problem& problem, const GridPattern& pattern, std::size_t tries, BestPlacement& best) {
    std::vector<Slot> slots(problem.allocation().slots().begin(), problem.allocation().slots().end());
    std::sort(slots.begin(), slots.end());
    const grid::GridPoints cells = list_cell_points(pattern);
    const grid::GridPoints slot_points = list_slot_points(problem.machine(), slots);
    std::vector<std::vector<std::uint32_t>> cell_lines;
    for (std::size_t c = 0; c < grid::count_lines(cells) && c < tries; ++c)
        cell_lines.push_back(grid::list_line(cells, c));
    for (std::size_t s = 0; s < grid::count_lines(slot_points); ++s) {
        const std::vector<std::uint32_t> slot_line = grid::list_line(slot_points, s);
        for (const auto& cell_line : cell_lines) {
            if (tries-- == 0 || best.is_done()) return;
            std::vector<Slot> placed(cell_line.size());
            for (std::size_t k = 0; k < placed.size(); ++k) {
                placed[pattern.rank_of_cell[cell_line[k]].value] = slots[slot_line[k]];
            }
            best.try_slots(std::move(placed));
        }
    }
}

/// Whether all placements are equally good: true for a uniform alltoall that uses all slots.
bool is_always_optimal(const Problem& problem, const GridPattern& pattern) {
    return pattern.axes.size() == 1 && pattern.axes[0].kind == AxisKind::clique && pattern.uniform &&
           problem.rank_count() == problem.allocation().slot_count();
}

}  // namespace

std::optional<StructuredPlacement> place_by_structure(const Problem& problem, Meter& meter) {
    if (!charge_preparation(meter, problem)) return std::nullopt;
    BestPlacement best(problem, meter);
    if (const auto hub = find_hub(problem.symmetric())) {
        HubPlacement found = place_hub(problem, *hub);
        best.try_slots(std::move(found.slots));
        return StructuredPlacement{best.placement(), "one rank with all others", found.optimal};
    }
    const auto block = problem.allocation().slots().first(problem.rank_count());
    if (const auto tree = find_binomial_tree(problem.symmetric())) {
        const auto grid = grid::slot_grid(problem.allocation(), problem.rank_count());
        auto slots = grid ? place_binomial_tree(*tree, *grid) : std::nullopt;
        if (!slots) return std::nullopt;
        best.try_slots({block.begin(), block.end()});
        best.try_slots(*std::move(slots));
        const std::string text = "binomial tree of " + std::to_string(problem.rank_count());
        return StructuredPlacement{best.placement(), text, best.is_optimal()};
    }
    if (!charge_preparation(meter, problem)) return std::nullopt;
    const std::optional<GridPattern>& pattern = problem.pattern();
    if (!pattern) return std::nullopt;
    best.try_slots({block.begin(), block.end()});
    if (is_always_optimal(problem, *pattern))
        return StructuredPlacement{best.placement(), pattern->text(), true};
    const std::size_t tries =
        std::clamp<std::size_t>(2'000'000 / problem.graph().edge_count(), fewest_tries, 64);
    bool plain = false;
    bool enough = best.is_done();
    const auto grid = grid::slot_grid(problem.allocation(), problem.rank_count());
    if (grid && !enough) {
        BlockFolding blocks(*pattern, *grid);
        enough = blocks.try_all(tries, best);
        plain = blocks.has_plain_folding();
    }
    if (!enough) {
        try_halving(problem, *pattern, tries, best);
        try_lines(problem, *pattern, 2 * tries, best);
    }
    return StructuredPlacement{best.placement(), pattern->text(), best.is_optimal(), plain};
}

Placement place_structure(const Problem& problem, Meter& meter) {
    std::optional<StructuredPlacement> found = place_by_structure(problem, meter);
    return found ? std::move(found->placement) : simple::place_block(problem, meter);
}

MapperEntry structure_mapper() {
    return mapper_entry<place_structure>(
        {.name = "structure",
         .summary =
             "recognizes grids, rings, hypercubes, groups and trees; fits boxes and foldings to the machine",
         .source = "Bhatele, Kale 2008; Hammack, Imrich 2009",
         .needs = "graph, distances",
         .occupancy = Occupancy::alone});
}

}  // namespace topoloom::structure
