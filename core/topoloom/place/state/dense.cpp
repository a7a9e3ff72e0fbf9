// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/state/dense.hpp"

#include <cmath>

#include "topoloom/base/error.hpp"
#include "topoloom/base/memory.hpp"
#include "topoloom/place/state/arrangement.hpp"
#include "topoloom/qap/qap_tabu.hpp"

namespace topoloom {

void require_dense_memory(std::string_view mapper, std::size_t order, std::size_t searches) {
    const double needed = qap::QapGround::bytes(order) * static_cast<double>(searches + 1);
    if (needed <= 0.5 * static_cast<double>(usable_memory())) return;
    fail(mapper, " keeps all distances between the ", order, " slots and would need ",
         std::llround(needed / 1e9), " GB of memory; use a smaller allocation or another mapper");
}

qap::Qap dense_qap(const Problem& problem) {
    const Allocation& allocation = problem.allocation();
    const std::size_t order = allocation.slot_count();
    std::vector<std::int64_t> bytes(order * order);
    for (const Rank u : ids<Rank>(problem.rank_count())) {
        for (const Edge edge : problem.graph().sends(u))
            bytes[u.value * order + edge.peer.value] = edge.bytes.value;
    }
    std::vector<std::int64_t> distance(order * order);
    std::vector<std::int64_t> moving;
    with_space(problem.machine(), [&](const auto& space) {
        const auto points = slot_points(space, allocation);
        for (std::size_t x = 0; x < order; ++x) {
            for (std::size_t y = 0; y < order; ++y)
                distance[x * order + y] = x == y ? 0 : std::int64_t{space.distance(points[x], points[y])};
        }
        if (problem.migration() == nullptr) return;
        moving.resize(order * order);
        for (std::size_t u = 0; u < problem.rank_count(); ++u) {
            const std::optional<Slot> from = problem.migration()->from[u];
            for (std::size_t x = 0; from && x < order; ++x)
                moving[u * order + x] = problem.migration()->bytes_per_rank.value *
                                        std::int64_t{space.distance(space.point(*from), points[x])};
        }
    });
    return {order, std::move(bytes), std::move(distance), std::move(moving)};
}

qap::Permutation assignment_of(const Problem& problem, const Placement& placement) {
    qap::Permutation p;
    std::vector<char> used(problem.allocation().slot_count(), false);
    for (const Position x : positions_of(problem.allocation(), placement.slots())) {
        p.push_back(x.value);
        used[x.value] = true;
    }
    for (std::uint32_t x = 0; x < used.size(); ++x) {
        if (!used[x]) p.push_back(x);
    }
    return p;
}

Placement placement_of(const Problem& problem, std::span<const std::uint32_t> assignment) {
    std::vector<Position> positions;
    for (const std::uint32_t x : assignment.first(problem.rank_count())) positions.emplace_back(x);
    return placement_at(problem.allocation(), positions);
}

}  // namespace topoloom
