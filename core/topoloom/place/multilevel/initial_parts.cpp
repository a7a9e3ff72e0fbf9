// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/multilevel/initial_parts.hpp"

#include <algorithm>
#include <limits>

#include "topoloom/place/state/arrangement.hpp"

namespace topoloom::multilevel {

std::vector<Position> list_fixed_slots(const Problem& problem) {
    std::vector<Position> slots;
    for (const FixedPosition& fixed : list_fixed_positions(problem)) slots.push_back(fixed.position);
    std::ranges::sort(slots);
    slots.erase(std::ranges::unique(slots).begin(), slots.end());
    return slots;
}

InitialParts make_initial_parts(const Problem& problem, const MachineParts& machine,
                                std::span<const Rank> order) {
    const std::span<const std::int64_t> masses = problem.capacity().masses();
    InitialParts initial;
    const auto add_rank = [&](Rank u) {
        initial.ranks.emplace_back(u.value);
        initial.parts.back().mass += masses[u.value];
        ++initial.parts.back().end;
    };
    std::vector<FixedPosition> fixed = list_fixed_positions(problem);
    if (fixed.size() < order.size()) {
        initial.parts.push_back({.machine = machine.whole_machine()});
        for (const Rank u : order) {
            if (!problem.fixed().contains(u)) add_rank(u);
        }
    }
    std::ranges::stable_sort(fixed, {}, &FixedPosition::position);
    for (std::uint32_t i = 0, slot = 0; i < fixed.size(); ++i) {
        if (i == 0 || fixed[i].position != fixed[i - 1].position) {
            const auto begin = static_cast<std::uint32_t>(initial.ranks.size());
            initial.parts.push_back(
                {.machine = machine.fixed_part(slot++), .begin = begin, .end = begin, .finished = true});
        }
        add_rank(fixed[i].rank);
    }
    return initial;
}

int compute_weight_shift(const Problem& problem, const MachineParts& machine) {
    const std::int64_t most = std::max<std::int64_t>(1, problem.symmetric().total_bytes().value);
    const std::int64_t farthest = std::max<std::int64_t>(1, problem.machine().max_distance());
    const std::int64_t greatest = 16 * machine.distance_scale() * farthest;
    int shift = 0;
    while (most >> shift > std::numeric_limits<std::int64_t>::max() / greatest) ++shift;
    return shift;
}

}  // namespace topoloom::multilevel
