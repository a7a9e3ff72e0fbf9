// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/bound/dense_bounds.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "topoloom/base/step_budget.hpp"
#include "topoloom/bound/cuts/partner_profile.hpp"
#include "topoloom/bound/distance_profile.hpp"
#include "topoloom/bound/slot_distances.hpp"
#include "topoloom/qap/dual_ascent.hpp"
#include "topoloom/qap/linear_assignment.hpp"
#include "topoloom/qap/projection.hpp"

namespace topoloom::bound {

namespace {

constexpr double max_entries = 0x1p28;  // maximum number of pair costs in dual ascent, 4 bytes each

}  // namespace

std::int64_t gilmore_lawler_bound(const BoundProblem& problem) {
    const PartnerProfiles partners = partner_profiles(problem.symmetric());
    const DistanceProfiles near = distance_profiles(problem, partners.max_partners);
    std::vector<std::int64_t> by_profile(partners.profiles.size() * near.profiles.size());
    for (std::size_t p = 0; p < partners.profiles.size(); ++p) {
        for (std::size_t q = 0; q < near.profiles.size(); ++q)
            by_profile[p * near.profiles.size() + q] = min_hop_bytes(partners.profiles[p], near.profiles[q]);
    }
    std::vector<std::uint32_t> columns;  // profile of each column; a slot of capacity k has k columns
    for (std::size_t position = 0; position < near.of_slot.size(); ++position)
        columns.insert(columns.end(), problem.capacity()[position], near.of_slot[position]);
    std::vector<std::int64_t> costs(problem.rank_count() * columns.size());
    for (std::size_t u = 0; u < problem.rank_count(); ++u) {
        const std::int64_t* const row = by_profile.data() + partners.of_rank[u] * near.profiles.size();
        for (std::size_t j = 0; j < columns.size(); ++j) costs[u * columns.size() + j] = row[columns[j]];
    }
    return halve_symmetric_bound(qap::LinearAssignment<std::int64_t>().solve(costs, columns.size()));
}

std::optional<std::int64_t> projection_bound(const BoundProblem& problem) {
    if (problem.total_capacity() > qap::max_projection_order) return {};
    const SlotDistances distances(problem.allocation());
    if (!distances.symmetric()) return {};
    std::vector<std::uint32_t> places;  // a slot of capacity k has k entries
    for (std::uint32_t i = 0; i < problem.capacity().size(); ++i)
        places.insert(places.end(), problem.capacity()[i], i);
    const std::size_t order = places.size();
    std::vector<std::int64_t> bytes(order * order, 0);
    for (const Rank u : ids<Rank>(problem.rank_count())) {
        for (const Edge edge : problem.symmetric().sends(u))
            bytes[u.value * order + edge.peer.value] = edge.bytes.value;
    }
    std::vector<std::int64_t> slot_distance(order * order);
    for (std::size_t i = 0; i < order; ++i) {
        for (std::size_t j = 0; j < order; ++j)
            slot_distance[i * order + j] = distances(places[i], places[j]);
    }
    const auto both_ways = qap::projection_bound(order, bytes, slot_distance);
    return std::max<std::int64_t>(0, halve_symmetric_bound(*both_ways));
}

std::optional<std::int64_t> dual_ascent_bound(const BoundProblem& problem, Meter& meter) {
    const CommGraph& graph = problem.symmetric();
    const std::size_t count = problem.total_capacity();
    const double entries = static_cast<double>(graph.edge_count()) * static_cast<double>(count * count);
    if (entries > max_entries || !spend_step(meter, entries / 8)) return {};
    const SlotDistances distances(problem.allocation());
    if (!distances.symmetric()) return {};
    std::vector<std::uint32_t> slot_of_place;
    for (std::uint32_t s = 0; s < problem.capacity().size(); ++s)
        slot_of_place.insert(slot_of_place.end(), problem.capacity()[s], s);
    std::size_t max_partners = 0;
    for (const Rank u : ids<Rank>(graph.rank_count())) max_partners = std::max(max_partners, graph.degree(u));
    const qap::CostScale scale(problem.graph().total_bytes().value * problem.machine().max_distance(),
                               max_partners);
    qap::DualAscent ascent(static_cast<std::uint32_t>(graph.rank_count()), static_cast<std::uint32_t>(count),
                           graph.edge_count() / 2);
    for (const Rank u : ids<Rank>(graph.rank_count())) {
        for (const Edge edge : graph.sends(u)) {
            if (edge.peer < u || edge.bytes.value == 0) continue;
            ascent.add_pair(u.value, edge.peer.value, [&](std::uint32_t j, std::uint32_t l) {
                return scale.down(edge.bytes.value * distances(slot_of_place[j], slot_of_place[l]));
            });
        }
    }
    constexpr int max_sweeps = 200;
    constexpr double min_gain = 5e-5;  // stop after a sweep with a smaller relative gain
    for (int i = 0; i < max_sweeps; ++i) {
        const std::int64_t before = ascent.bound();
        ascent.sweep(problem.threads());
        const auto gain = static_cast<double>(ascent.bound() - before);
        if (!meter.spend(graph.edge_count() * count * count / 2 + 1)) break;
        if (i > 0 && gain <= min_gain * static_cast<double>(before)) break;
    }
    return scale.up(ascent.bound());
}

}  // namespace topoloom::bound
