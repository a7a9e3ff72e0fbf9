// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/simple/hashed.hpp"

#include <bit>

#include "topoloom/place/shared/fitting.hpp"
#include "topoloom/place/state/rank_grid.hpp"

namespace topoloom {

namespace {

std::uint32_t hash(const Extents& at) {
    std::uint32_t sum = at[0];
    for (std::size_t i = 1; i < at.size(); ++i) {
        const auto axis = static_cast<int>(i);
        sum += std::rotl(at[i], (10 + 11 * axis) % 32) + std::rotl(at[i], (9 + 7 * axis) % 32);
    }
    return sum;
}

}  // namespace

Placement place_hashed(const Problem& problem, Meter& meter, const GridOptions& options) {
    const RankGrid grid = rank_grid(problem, options.grid, "hashed");
    meter.spend(problem.rank_count());
    const auto all = problem.allocation().slots();
    std::vector<Slot> slots(grid.cells());
    auto rank = grid.rank_of_cell.begin();
    for_each_cell(grid.extents, [&](const Extents& at) {
        const std::uint32_t key = at.size() == 1 ? at[0] : (hash(at) + 739) % 1'280'107;
        slots[(rank++)->value] = all[key % all.size()];
    });
    return fitted(problem, {problem.allocation(), std::move(slots), SlotUse::shared});
}

}  // namespace topoloom
