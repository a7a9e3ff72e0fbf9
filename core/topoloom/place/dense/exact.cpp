// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/dense/exact.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/base/memory.hpp"
#include "topoloom/bound/bus_affinity.hpp"
#include "topoloom/bound/congestion_bound.hpp"
#include "topoloom/bound/exact_congestion.hpp"
#include "topoloom/machine/topology.hpp"
#include "topoloom/place/mapper_entry.hpp"
#include "topoloom/place/state/arrangement.hpp"
#include "topoloom/place/state/dense_qap.hpp"
#include "topoloom/qap/exact/branch_and_bound.hpp"
#include "topoloom/qap/exact/generalized_search.hpp"

namespace topoloom::dense {

namespace {

void require_memory(const Problem& problem, double bytes, std::string_view what) {
    if (bytes <= 0.5 * static_cast<double>(usable_memory())) return;
    fail("exact keeps ", what, " and would need ", std::llround(bytes / 1e9), " GB of memory for ",
         problem.rank_count(), " ranks on ", problem.allocation().slot_count(),
         " slots; use fewer slots or another mapper, and `topoloom bound` for a weaker proof");
}

/// The largest double that does not exceed `value`; large integers may have no exact double.
double round_down_to_double(std::int64_t value) {
    const auto near = static_cast<double>(value);
    return static_cast<std::int64_t>(near) > value ? std::nextafter(near, 0) : near;
}

/// Returns the placement from which the search starts, and a lower bound if `auto` proved one. Finding a good
/// start saves more time than it costs.
PlaceResult find_start(const Problem& problem, Meter& meter) {
    const auto slots = static_cast<double>(problem.allocation().slot_count());
    const Budget rest = meter.remaining();
    const Budget share{.work = std::min(static_cast<std::uint64_t>(1e3 * std::pow(slots, 3)), rest.work / 10),
                       .seconds = rest.seconds / 10,
                       .keep_going = [&](std::uint64_t) { return meter.poll(); }};
    PlaceResult found = place(problem, "auto", share);
    meter.spend(found.work);
    return found;
}

/// The best placement on a ring bus; none unless message counts alone suffice to compare all assignments of
/// ranks to slots.
std::optional<Placement> find_best_on_bus(const Problem& problem) {
    constexpr std::size_t elements = 8;
    const auto* const bus = std::get_if<RingBus>(&problem.machine().topology());
    const Allocation& allocation = problem.allocation();
    if (bus == nullptr || allocation.slot_count() != elements || problem.rank_count() != elements) return {};
    std::vector<Bytes> sizes;
    for (const Rank u : ids<Rank>(elements)) {
        for (const Bytes bytes : problem.graph().bytes(u)) sizes.push_back(bytes);
    }
    if (bus->node_count() > 12 || std::ranges::adjacent_find(sizes, std::not_equal_to()) != sizes.end())
        return {};
    std::vector<Node> stations;
    for (const Slot slot : allocation.slots()) stations.push_back(problem.machine().node(slot));
    const BusAffinity best =
        rank_bus_affinities(*bus, stations, problem.graph()).ranking.front().element_of_thread;
    return placement_of(problem, std::vector<std::uint32_t>(best.begin(), best.end()));
}

qap::QuadraticAssignment make_quadratic_assignment(const Problem& problem) {
    const auto ranks = static_cast<std::uint32_t>(problem.rank_count());
    return {ranks, static_cast<std::uint32_t>(problem.allocation().slot_count()),
            dense_bytes(problem.graph(), ranks), dense_distances(problem.allocation()),
            dense_migration_costs(problem)};
}

qap::GeneralizedAssignment make_generalized_assignment(const Problem& problem) {
    const auto ranks = static_cast<std::uint32_t>(problem.rank_count());
    const Capacity& capacity = problem.capacity();
    return {.ranks = ranks,
            .slots = static_cast<std::uint32_t>(problem.allocation().slot_count()),
            .bytes = dense_bytes(problem.graph(), ranks),
            .distances = dense_distances(problem.allocation()),
            .linear = dense_migration_costs(problem),
            .mass = {capacity.masses().begin(), capacity.masses().end()},
            .capacity = {capacity.capacities().begin(), capacity.capacities().end()}};
}

void require_memory_for_costs(const Problem& problem) {
    if (problem.capacity().one_rank_per_slot()) {
        require_memory(problem,
                       qap::branch_and_bound_bytes(problem.rank_count(), problem.allocation().slot_count()),
                       "costs of all pairs of ranks at all pairs of slots");
    } else {
        const auto numbers = static_cast<double>(problem.rank_count() + problem.allocation().slot_count());
        require_memory(problem, 32 * std::pow(numbers, 2), "bytes and distances of all pairs");
    }
}

void require_memory_for_routes(const Problem& problem) {
    const double pairs = std::pow(static_cast<double>(problem.allocation().slot_count()), 2);
    require_memory(problem, pairs * (32 + 16 * problem.machine().max_distance()),
                   "routes between all pairs of slots");
}

Placement place_for_hop_bytes(const Problem& problem, const Placement& start, Meter& meter) {
    ImprovedPlacement found = problem.capacity().one_rank_per_slot()
                                  ? improve_hop_bytes(problem, start, meter)
                                  : improve_shared_placement(problem, start, meter);
    meter.set_lower_bound(round_down_to_double(found.lower_bound));
    return std::move(found.placement);
}

Placement place_for_congestion(const Problem& problem, const Placement& start, Meter& meter) {
    const Allocation& allocation = problem.allocation();
    const BoundProblem bounds(problem.graph(), allocation, {}, problem.threads());
    Meter share(meter.sub_budget(0.25));
    const double known = congestion_bound(bounds, share).value;
    meter.spend(share.work_done());
    const bound::ExactCongestion found =
        bound::min_congestion(bounds, rank_positions(allocation, start.slots()), known, meter);
    meter.set_lower_bound(found.lower_bound);
    return placement_at(allocation, found.position_of_rank);
}

void require_provable_objective(const Problem& problem) {
    if (problem.uses_proxies())
        fail("exact counts every message, but this pattern sends through proxies; use another mapper");
    if (problem.is_for_hop_bytes()) return;
    const PhasedObjective objective = problem.link_objective();
    if (!objective.mix.is(ObjectiveKind::congestion) || objective.phases.size() > 1 ||
        !objective.background.empty())
        fail("exact proves hop-bytes, or congestion in one phase without other traffic; use another mapper");
}

}  // namespace

ImprovedPlacement improve_hop_bytes(const Problem& problem, const Placement& start, Meter& meter) {
    const qap::QuadraticAssignment assignment = make_quadratic_assignment(problem);
    const qap::ExactResult found = qap::branch_and_bound(
        assignment, rank_positions(problem.allocation(), start.slots()), meter, problem.threads());
    return {placement_at(problem.allocation(), found.position_of_rank), found.lower_bound};
}

ImprovedPlacement improve_shared_placement(const Problem& problem, const Placement& start, Meter& meter) {
    const qap::ExactResult found = qap::branch_and_bound(
        make_generalized_assignment(problem), rank_positions(problem.allocation(), start.slots()), meter);
    return {placement_at(problem.allocation(), found.position_of_rank, SlotUse::shared), found.lower_bound};
}

Placement place_exact(const Problem& problem, Meter& meter) {
    require_provable_objective(problem);
    if (problem.is_for_hop_bytes()) {
        require_memory_for_costs(problem);
    } else {
        if (std::optional<Placement> best = find_best_on_bus(problem)) {
            meter.spend(40'320);  // 8!
            meter.set_lower_bound(problem.objective_value(best->slots()));
            return std::move(*best);
        }
        require_memory_for_routes(problem);
    }
    PlaceResult start = find_start(problem, meter);
    if (start.proven && problem.objective_value(start.placement.slots()) <= *start.proven) {
        meter.set_lower_bound(*start.proven);
        return std::move(start.placement);
    }
    return problem.is_for_hop_bytes() ? place_for_hop_bytes(problem, start.placement, meter)
                                      : place_for_congestion(problem, start.placement, meter);
}

MapperEntry exact_mapper() {
    return mapper_entry<place_exact>(
        {.name = "exact",
         .summary = "branch and bound: the best placement, with proof, for up to about 20 slots",
         .source = "Hahn, Grant 1998",
         .needs = "graph, distances, memory for slots^4, time",
         .occupancy = Occupancy::both,
         .minimizes = SearchObjective::objective});
}

}  // namespace topoloom::dense
