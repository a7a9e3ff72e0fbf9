// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "topoloom/base/error.hpp"
#include "topoloom/base/memory.hpp"
#include "topoloom/metric/hop_bytes.hpp"
#include "topoloom/metric/loads/objective_loads.hpp"
#include "topoloom/metric/proxies.hpp"
#include "topoloom/pattern/recognize/recognize.hpp"

namespace topoloom {

namespace {

/// Checks that memory suffices for what searches store besides the pattern: its symmetric graph, divided or
/// coarser copies of that graph, and the state of every rank. Measured: 55 to 100 bytes per edge.
void require_search_memory(const CommGraph& graph) {
    constexpr double bytes_per_edge = 100;
    constexpr double bytes_per_rank = 300;
    const auto usable = static_cast<double>(usable_memory());
    const auto needed = [&](std::size_t edges) {
        return bytes_per_edge * static_cast<double>(edges) +
               bytes_per_rank * static_cast<double>(graph.rank_count());
    };
    if (needed(2 * graph.edge_count()) <= usable) return;
    const std::size_t edges = graph.symmetric_edge_count();
    if (needed(edges) <= usable) return;
    fail("a search for ", graph.rank_count(), " ranks with ", edges, " edges needs about ",
         std::llround(needed(edges) / 1e6), " MB of memory; this process may use ",
         std::llround(usable / 1e6),
         " MB. Give it more, or use a mapper that does not search, such as block or hilbert");
}

/// Throws Error if the ranks fixed to a slot exceed its capacity, or if a slot is not allocated.
void require_fixed_ranks_fit(const Problem& problem, const FixedRanks& fixed) {
    const Allocation& allocation = problem.allocation();
    std::vector<Position> position(allocation.machine().slot_count(), Position::none);
    for (const Position p : ids<Position>(allocation.slot_count()))
        position[allocation.slots()[p.value].value] = p;
    const Capacity& capacity = problem.capacity();
    std::vector<std::int64_t> spare(capacity.capacities().begin(), capacity.capacities().end());
    for (const Rank u : fixed.ranks()) {
        const Slot slot = fixed.slot(u);
        if (slot.value >= position.size() || position[slot.value] == Position::none)
            fail("rank ", u.value, " is fixed to slot ", slot.value, ", which is not in the allocation");
        std::int64_t& left = spare[position[slot.value].value];
        left -= capacity.masses()[u.value];
        if (left < 0) fail("rank ", u.value, " is fixed to slot ", slot.value, ", which has no room for it");
    }
}

/// Local searches add 2^60 to the cost of moving a fixed rank, which must exceed every gain.
void require_small_messages(const CommGraph& graph, const Machine& machine) {
    std::vector<std::int64_t> bytes(graph.rank_count(), 0);
    for (const Rank u : ids<Rank>(graph.rank_count())) {
        for (const Edge edge : graph.sends(u)) {
            bytes[u.value] += edge.bytes.value;
            bytes[edge.peer.value] += edge.bytes.value;
        }
    }
    constexpr std::int64_t most = std::int64_t{1} << 57;
    const std::int64_t farthest = std::max<std::int64_t>(1, machine.max_distance());
    if (std::ranges::max(bytes) > most / farthest)
        fail("a rank exchanges ", std::ranges::max(bytes), " bytes over distances of up to ", farthest,
             "; with fixed ranks, hop-bytes of a rank must be below 2^57. Scale the bytes down");
}

}  // namespace

void require_times(const Machine& machine, const Objective& objective) {
    if (objective.of(ObjectiveKind::time) > 0 && !machine.has_bandwidths())
        fail("time needs bandwidths, and the machine '", machine.text(),
             "' gives none; describe them (bandwidth=25GB/s), or choose congestion");
}

Problem::Problem(const CommGraph& graph, const Allocation& allocation, std::uint64_t seed, int threads,
                 const Sharing& sharing)
    : graph_(graph),
      allocation_(allocation),
      capacity_(graph, allocation, sharing),
      seed_(seed),
      threads_(threads),
      fixed_(std::make_shared<const FixedRanks>()),
      derived_(std::make_shared<DerivedData>()) {
    require_exact_hop_bytes(graph, allocation.machine());
}

Problem Problem::with_seed(std::uint64_t seed, int threads) const {
    Problem other = *this;
    other.seed_ = seed;
    other.threads_ = threads;
    return other;
}

Problem Problem::with_fixed(FixedRanks fixed) const {
    require_fixed_ranks_fit(*this, fixed);
    if (!fixed.empty()) require_small_messages(graph_, machine());
    Problem other = *this;
    other.fixed_ = std::make_shared<const FixedRanks>(std::move(fixed));
    return other;
}

std::vector<std::int64_t> Problem::spare_capacities() const {
    std::vector<std::int64_t> spare(capacity_.capacities().begin(), capacity_.capacities().end());
    if (fixed_->empty()) return spare;
    std::vector<std::int64_t> used(machine().slot_count(), 0);
    for (const Rank u : fixed_->ranks()) used[fixed_->slot(u).value] += capacity_.masses()[u.value];
    for (std::size_t i = 0; i < spare.size(); ++i) spare[i] -= used[allocation_.slots()[i].value];
    return spare;
}

Problem Problem::with_migration(Migration migration) const {
    for (const std::optional<Slot> slot : migration.from) {
        if (slot && slot->value >= machine().slot_count()) {
            fail("the earlier placement uses slot ", slot->value, ", but the machine has only ",
                 machine().slot_count(), " slots");
        }
    }
    if (migration.from.size() != rank_count()) {
        fail("the earlier placement has ", migration.from.size(), " ranks, but the pattern has ",
             rank_count());
    }
    const std::int64_t most = std::numeric_limits<std::int64_t>::max() / 2;
    const auto moves = static_cast<std::int64_t>(rank_count() * std::size_t{machine().max_distance()});
    if (migration.bytes_per_rank.value < 0 || (moves > 0 && migration.bytes_per_rank.value > most / moves))
        fail("the migration cost is ", migration.bytes_per_rank.value,
             " bytes per rank; it must not be negative, nor so large that moving all ranks exceeds 2^62 "
             "hop-bytes");
    Problem other = *this;
    other.migration_ = std::make_shared<const Migration>(std::move(migration));
    return other;
}

Problem Problem::with_objective(const Objective& objective, std::vector<const CommGraph*> phases,
                                std::span<const double> background) const {
    if (objective.is(ObjectiveKind::hop_bytes)) return for_hop_bytes();
    if (!capacity_.one_rank_per_slot())
        fail("ranks that share slots are placed for hop-bytes only; leave out the objective");
    if (migration_)
        fail("with an earlier placement, ranks are placed for hop-bytes only; leave out the objective");
    require_times(machine(), objective);
    for (const CommGraph* phase : phases) {
        if (phase->rank_count() != rank_count())
            fail("a phase has ", phase->rank_count(), " ranks, but the pattern has ", rank_count());
    }
    if (phases.empty()) phases.push_back(&graph_);
    PhasedObjective measured{.mix = objective, .phases = std::move(phases), .background = background};
    // An evaluation also validates the background loads.
    if (objective.relative || !background.empty()) {
        const auto block = allocation_.slots().first(rank_count());
        const std::array<double, 4> measures = objective_values(machine(), measured, block);
        for (std::size_t i = 0; i < measures.size(); ++i) {
            if (objective.relative && measures[i] > 0) measured.unit[i] = measures[i];
        }
    }
    Problem other = *this;
    other.objective_ = std::make_shared<const PhasedObjective>(std::move(measured));
    return other;
}

Problem Problem::with_automatic_objective() const {
    Problem other = *this;
    other.has_automatic_objective_ = true;
    return other;
}

Problem Problem::for_hop_bytes() const {
    Problem other = *this;
    other.objective_ = nullptr;
    return other;
}

PhasedObjective Problem::link_objective() const {
    if (objective_) return *objective_;
    return {.mix = objective_of(ObjectiveKind::congestion), .phases = {&graph_}};
}

std::int64_t Problem::value(std::span<const Slot> slot_of_rank) const {
    const std::int64_t bytes =
        uses_proxies() ? hop_bytes(apply_proxies(graph_, slot_of_rank), machine(), slot_of_rank, threads_)
                       : hop_bytes(graph_, machine(), slot_of_rank, threads_);
    return migration_ ? bytes + migration_cost(*migration_, machine(), slot_of_rank) : bytes;
}

CongestionKey Problem::key(std::span<const Slot> slot_of_rank) const {
    return objective_ ? objective_key(machine(), *objective_, slot_of_rank)
                      : CongestionKey{0, 0, value(slot_of_rank)};
}

double Problem::time(std::span<const Slot> slot_of_rank) const {
    return compute_time_parts(slot_of_rank).all;
}

bool Problem::is_bandwidth_bound(std::span<const Slot> slot_of_rank) const {
    const TotalAndBusiestTimes parts = compute_time_parts(slot_of_rank);
    return parts.busy > 0.5 * parts.all;
}

TotalAndBusiestTimes Problem::compute_time_parts(std::span<const Slot> slot_of_rank) const {
    if (!machine().has_bandwidths()) return {};
    PhasedObjective objective = link_objective();
    objective.mix = objective_of(ObjectiveKind::time);
    const CommGraph sent = uses_proxies() ? apply_proxies(graph_, slot_of_rank) : CommGraph{};
    if (uses_proxies()) objective.phases = {&sent};
    return total_and_busiest_times(machine(), objective, slot_of_rank);
}

double Problem::objective_value(std::span<const Slot> slot_of_rank) const {
    const CongestionKey found = key(slot_of_rank);
    return objective_ ? found.congestion : static_cast<double>(found.hop_bytes);
}

const CommGraph& Problem::symmetric() const {
    return derived_->symmetric.get([&] {
        require_search_memory(graph_);
        return graph_.symmetric();
    });
}

const std::optional<GridPattern>& Problem::pattern() const {
    return derived_->pattern.get([&] { return recognize(symmetric(), threads_); });
}

}  // namespace topoloom
