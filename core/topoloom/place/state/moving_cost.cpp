// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/state/moving_cost.hpp"

#include <utility>

#include "topoloom/place/state/arrangement.hpp"

namespace topoloom {

std::vector<Position> home_positions(const Problem& problem) {
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

MovingCost::MovingCost(const Problem& problem, std::int64_t scale)
    : problem_(problem),
      bytes_(problem.migration() == nullptr ? 0 : scale * problem.migration()->bytes_per_rank.value) {
    if (bytes_ == 0) return;
    with_space(problem.machine(), [&]<class Space>(const Space& space) {
        using Point = typename Space::Point;
        std::vector<std::optional<Point>> origins;
        for (const std::optional<Slot>& from : problem.migration()->from)
            origins.push_back(from ? std::optional<Point>(space.point(*from)) : std::nullopt);
        distance_ = [space, origins = std::move(origins), slots = slot_points(space, problem.allocation())](
                        Rank u, Position position) {
            const std::optional<Point>& origin = origins[u.value];
            return origin ? space.distance(*origin, slots[position.value]) : 0U;
        };
    });
}

}  // namespace topoloom
