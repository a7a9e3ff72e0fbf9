// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/capi/topoloom.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <unordered_map>

#include "topoloom/base/error.hpp"
#include "topoloom/base/option.hpp"
#include "topoloom/capi/guarded.hpp"
#include "topoloom/capi/learned_machine.hpp"
#include "topoloom/capi/process_map.hpp"
#include "topoloom/place/effort.hpp"
#include "topoloom/place/mapper.hpp"

using namespace topoloom;

namespace {

struct Wanted {
    std::string mapper = auto_chain(Effort::fast);
    std::string objective = "hop-bytes";
    std::uint32_t seed = 1;
    std::uint32_t threads = 0;
    std::uint32_t seconds = 8;  // short, because the whole job waits

    void visit(auto& field) {
        field("mapper", mapper, "as for `topoloom map`");
        field("objective", objective, "what the order is to lower");
        field("seed", seed, Range{0, 4294967295.0}, "start of all that is random");
        field("threads", threads, Range{0, 4096}, "0: all cores");
        field("seconds", seconds, Range{0, 86400}, "after which the search ends; 0: when it is done");
    }
};

Wanted read_wanted(std::string_view text) {
    if (text.empty()) return {};
    const NamedOptions named = read_named_options("options", "reorder(" + std::string(text) + ")");
    return read_options<Wanted>("reorder", named.options);
}

Groups groups_of(std::size_t processes, std::size_t levels, const std::int64_t* ids) {
    return {processes, levels, {ids, processes * levels}};
}

CommGraph graph_of(const topoloom_pattern& pattern) {
    const std::size_t edges = pattern.first[pattern.ranks];
    static_assert(sizeof(Rank) == sizeof(std::uint32_t) && sizeof(Bytes) == sizeof(std::int64_t));
    return CommGraph::from_csr({pattern.first, pattern.ranks + 1},
                               {reinterpret_cast<const Rank*>(pattern.peers), edges},
                               {reinterpret_cast<const Bytes*>(pattern.bytes), edges});
}

std::int64_t bytes_between_nodes(const CommGraph& graph, const Allocation& at, const Placement& placement) {
    const Machine& machine = at.machine();
    std::int64_t sum = 0;
    for (const Rank u : ids<Rank>(graph.rank_count())) {
        for (const Edge edge : graph.sends(u)) {
            if (machine.node(placement[u]) != machine.node(placement[edge.peer])) sum += edge.bytes.value;
        }
    }
    return sum;
}

void order(const Allocation& at, const topoloom_pattern& pattern, const Wanted& wanted,
           std::uint32_t* process_of_rank, topoloom_gain& gain) {
    const CommGraph graph = graph_of(pattern);
    const Problem plain(graph, at, wanted.seed, static_cast<int>(wanted.threads));
    const Objective objective = parse_objective(wanted.objective);
    const Problem problem =
        objective.is(ObjectiveKind::hop_bytes) ? plain : plain.with_objective(objective, {}, {});
    const Placement present(
        at, {at.slots().begin(), at.slots().begin() + static_cast<std::ptrdiff_t>(graph.rank_count())});
    // A time limit instead of a budget, which a search would use up even for small problems.
    using Clock = std::chrono::steady_clock;
    const Clock::time_point end = Clock::now() + std::chrono::seconds(wanted.seconds);
    Budget budget;
    if (wanted.seconds > 0) budget.keep_going = [=](std::uint64_t) { return Clock::now() < end; };
    const Placement found = place(problem, wanted.mapper, budget).placement;
    const bool better = problem.key(found.slots()) < problem.key(present.slots());
    const Placement& chosen = better ? found : present;
    gain.before = problem.objective_value(present.slots());
    gain.after = problem.objective_value(chosen.slots());
    gain.inter_node_bytes_before = bytes_between_nodes(graph, at, present);
    gain.inter_node_bytes_after = bytes_between_nodes(graph, at, chosen);
    std::unordered_map<Slot, std::uint32_t> process_on;
    for (std::uint32_t p = 0; p < at.slot_count(); ++p) process_on[at.slots()[p]] = p;
    for (const Rank rank : ids<Rank>(graph.rank_count()))
        process_of_rank[rank.value] = process_on.at(chosen[rank]);
}

}  // namespace

int topoloom_process_map_from_groups(size_t processes, size_t levels, size_t node_level,
                                     const int64_t* groups, topoloom_process_map** process_map, char* error,
                                     size_t error_size) {
    return guarded(error, error_size, [&] {
        *process_map =
            new topoloom_process_map(learn_machine(groups_of(processes, levels, groups), node_level));
    });
}

int topoloom_process_map_on_machine(const char* machine, size_t processes, size_t levels,
                                    const int64_t* groups, topoloom_process_map** process_map, char* error,
                                    size_t error_size) {
    return guarded(error, error_size, [&] {
        *process_map =
            new topoloom_process_map(seat_on_machine(machine, groups_of(processes, levels, groups)));
    });
}

const char* topoloom_process_map_machine(const topoloom_process_map* process_map) {
    return process_map->machine.text().c_str();
}

void topoloom_process_map_free(topoloom_process_map* process_map) { delete process_map; }

int topoloom_order(const topoloom_process_map* process_map, const topoloom_pattern* pattern,
                   const char* options, uint32_t* process_of_rank, topoloom_gain* gain, char* error,
                   size_t error_size) {
    return guarded(error, error_size, [&] {
        const Wanted wanted = read_wanted(options == nullptr ? "" : options);
        order(process_map->allocation, *pattern, wanted, process_of_rank, *gain);
    });
}
