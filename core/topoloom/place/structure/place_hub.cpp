// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/structure/place_hub.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "topoloom/machine/slot_space.hpp"

namespace topoloom::structure {

std::optional<Rank> find_hub(const CommGraph& symmetric) {
    const std::size_t n = symmetric.rank_count();
    if (n < 3 || symmetric.edge_count() != 2 * (n - 1)) return std::nullopt;
    for (const Rank u : ids<Rank>(n)) {
        if (symmetric.degree(u) == n - 1) return u;
    }
    return std::nullopt;
}

HubPlacement place_hub(const Problem& problem, Rank hub) {
    const CommGraph& graph = problem.symmetric();
    std::vector<Edge> workers;
    for (const Edge edge : graph.sends(hub)) workers.push_back(edge);
    std::stable_sort(workers.begin(), workers.end(),
                     [](const Edge& a, const Edge& b) { return a.bytes.value > b.bytes.value; });
    const auto slots = problem.allocation().slots();
    constexpr std::size_t max_distances = 4'000'000;
    const std::size_t tries = std::min(slots.size(), std::max<std::size_t>(1, max_distances / slots.size()));
    const auto space = make_slot_space(problem.machine(), slots);
    struct NearSlot {
        std::uint32_t distance;
        Position position;
        auto operator<=>(const NearSlot&) const = default;
    };
    std::vector<NearSlot> near(slots.size());
    std::vector<std::uint32_t> distances(slots.size());
    const auto sort_around = [&](std::size_t center) {
        space->measure_distances(static_cast<std::uint32_t>(center), 0, distances);
        for (std::size_t i = 0; i < slots.size(); ++i) near[i] = {distances[i], Position{i}};
        std::swap(near[0], near[center]);  // the hub's own slot comes first, even if others are at distance 0
        std::sort(near.begin() + 1, near.end());
    };
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::size_t best = 0;
    for (std::size_t t = 0; t < tries; ++t) {
        const std::size_t center = t * slots.size() / tries;
        sort_around(center);
        std::int64_t cost = 0;
        for (std::size_t k = 0; k < workers.size(); ++k) {
            cost += workers[k].bytes.value * std::int64_t{near[k + 1].distance};
        }
        if (cost >= least) continue;
        least = cost;
        best = center;
    }
    sort_around(best);
    // Not proven optimal with user-defined routes, whose distances may be asymmetric.
    HubPlacement result{std::vector<Slot>(graph.rank_count()),
                        tries == slots.size() && !space->has_router_table()};
    result.slots[hub.value] = slots[best];
    for (std::size_t k = 0; k < workers.size(); ++k) {
        result.slots[workers[k].peer.value] = slots[near[k + 1].position.value];
    }
    return result;
}

}  // namespace topoloom::structure
