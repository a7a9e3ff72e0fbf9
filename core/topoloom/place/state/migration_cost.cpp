// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/state/migration_cost.hpp"

namespace topoloom {

std::vector<Position> previous_positions(const Problem& problem) {
    std::vector<Position> home(problem.rank_count(), Position::none);
    if (problem.migration() == nullptr) return home;
    std::vector<Position> position(problem.machine().slot_count(), Position::none);
    const auto slots = problem.allocation().slots();
    for (std::size_t i = 0; i < slots.size(); ++i) position[slots[i].value] = Position{i};
    for (std::size_t u = 0; u < home.size(); ++u) {
        if (const auto from = problem.migration()->from[u]) home[u] = position[from->value];
    }
    return home;
}

MigrationCost::MigrationCost(const Problem& problem, std::int64_t scale)
    : problem_(problem),
      bytes_(problem.migration() == nullptr ? 0 : scale * problem.migration()->bytes_per_rank.value) {
    if (bytes_ == 0) return;
    // The slots of the allocation, then the ranks' old slots.
    std::vector<Slot> slots(problem.allocation().slots().begin(), problem.allocation().slots().end());
    for (const std::optional<Slot>& from : problem.migration()->from) {
        origin_.push_back(from ? static_cast<std::uint32_t>(slots.size()) : no_index);
        if (from) slots.push_back(*from);
    }
    space_ = make_slot_space(problem.machine(), slots);
}

}  // namespace topoloom
