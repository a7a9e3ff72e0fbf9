// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/state/dense_qap.hpp"

#include <cmath>

#include "topoloom/base/error.hpp"
#include "topoloom/base/memory.hpp"
#include "topoloom/machine/slot_space.hpp"
#include "topoloom/place/state/arrangement.hpp"
#include "topoloom/qap/qap_tabu.hpp"

namespace topoloom {

void require_dense_memory(std::string_view mapper, std::size_t order, std::size_t searches) {
    const double needed = qap::QapContext::bytes(order) * static_cast<double>(searches + 1);
    if (needed <= 0.5 * static_cast<double>(usable_memory())) return;
    fail(mapper, " keeps all distances between the ", order, " slots and would need ",
         std::llround(needed / 1e9), " GB of memory; use a smaller allocation or another mapper");
}

std::vector<std::int64_t> dense_bytes(const CommGraph& graph, std::size_t order) {
    std::vector<std::int64_t> bytes(order * order);
    for (const Rank u : ids<Rank>(graph.rank_count())) {
        for (const Edge edge : graph.sends(u)) bytes[u.value * order + edge.peer.value] = edge.bytes.value;
    }
    return bytes;
}

std::vector<std::int64_t> dense_distances(const Allocation& allocation) {
    const std::size_t slots = allocation.slot_count();
    std::vector<std::int64_t> distance(slots * slots);
    const auto space = make_slot_space(allocation.machine(), allocation.slots());
    std::vector<std::uint32_t> row(slots);
    for (std::size_t x = 0; x < slots; ++x) {
        space->measure_distances(static_cast<std::uint32_t>(x), 0, row);
        row[x] = 0;
        std::ranges::copy(row, distance.begin() + static_cast<std::ptrdiff_t>(x * slots));
    }
    return distance;
}

std::vector<std::int64_t> dense_migration_costs(const Problem& problem) {
    if (problem.migration() == nullptr) return {};
    const Migration& migration = *problem.migration();
    std::vector<std::int64_t> costs(problem.rank_count() * problem.allocation().slot_count(), 0);
    std::vector<Slot> slots(problem.allocation().slots().begin(), problem.allocation().slots().end());
    const std::size_t count = slots.size();
    for (const std::optional<Slot>& from : migration.from) {
        if (from) slots.push_back(*from);
    }
    const auto space = make_slot_space(problem.machine(), slots);
    std::vector<std::uint32_t> row(count);
    std::size_t origin = count;
    for (std::size_t u = 0; u < problem.rank_count(); ++u) {
        if (!migration.from[u]) continue;
        space->measure_distances(static_cast<std::uint32_t>(origin++), 0, row);
        for (std::size_t x = 0; x < count; ++x)
            costs[u * count + x] = migration.bytes_per_rank.value * std::int64_t{row[x]};
    }
    return costs;
}

qap::Qap dense_qap(const Problem& problem) {
    const std::size_t order = problem.allocation().slot_count();
    std::vector<std::int64_t> moving = dense_migration_costs(problem);
    if (!moving.empty()) moving.resize(order * order);
    return {order, dense_bytes(problem.graph(), order), dense_distances(problem.allocation()),
            std::move(moving)};
}

qap::Permutation assignment_of(const Problem& problem, const Placement& placement) {
    qap::Permutation p;
    std::vector<char> used(problem.allocation().slot_count(), false);
    for (const Position x : rank_positions(problem.allocation(), placement.slots())) {
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
