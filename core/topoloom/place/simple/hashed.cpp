// SPDX-License-Identifier: BSD-3-Clause
// Distributes the ranks of a grid over the slots by a hash of their coordinates, as a message-driven runtime
// does.
#include <bit>

#include "topoloom/place/mapper_entry.hpp"
#include "topoloom/place/shared/fitting.hpp"
#include "topoloom/place/state/rank_grid.hpp"

namespace topoloom::simple {

namespace {

std::uint32_t hash_coordinates(const Extents& at) {
    std::uint32_t sum = at[0];
    for (std::size_t i = 1; i < at.size(); ++i) {
        const auto axis = static_cast<int>(i);
        sum += std::rotl(at[i], (10 + 11 * axis) % 32) + std::rotl(at[i], (9 + 7 * axis) % 32);
    }
    return sum;
}

/// The default map of Charm++ for object arrays: the object at (x0, x1, ...) goes to slot ((h + 739) mod
/// 1280107) mod slots. h is the sum, mod 2^32, of x0 and, for i > 0, of xi rotated left by 10 + 11i and by 9
/// + 7i bits (mod 32). Along a single axis, object i goes to slot i mod slots. If a slot is overfull, ranks
/// move from it to other slots.
Placement place_hashed(const Problem& problem, Meter& meter, const GridOptions& options) {
    const RankGrid grid = rank_grid(problem, options.grid, "hashed");
    meter.spend(problem.rank_count());
    const auto all = problem.allocation().slots();
    std::vector<Slot> slots(grid.cells());
    auto rank = grid.rank_of_cell.begin();
    for_each_cell(grid.extents, [&](const Extents& at) {
        const std::uint32_t key = at.size() == 1 ? at[0] : (hash_coordinates(at) + 739) % 1'280'107;
        slots[(rank++)->value] = all[key % all.size()];
    });
    for (const Rank u : problem.fixed().ranks()) slots[u.value] = problem.fixed().slot(u);
    return shared::fit_or_throw(problem, {problem.allocation(), std::move(slots), SlotUse::shared});
}

}  // namespace

MapperEntry hashed_mapper() {
    return mapper_entry<place_hashed>(
        {.name = "hashed",
         .summary = "ranks of a grid dealt to shared slots by a hash of their coordinates",
         .source = "Bhatele, Kale 2008",
         .needs = "grid of ranks, shared slots",
         .occupancy = Occupancy::shared});
}

}  // namespace topoloom::simple
