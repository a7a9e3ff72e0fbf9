// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/capi/topoloom.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <unordered_map>

#include "topoloom/base/error.hpp"
#include "topoloom/base/option.hpp"
#include "topoloom/capi/error_boundary.hpp"
#include "topoloom/capi/learned_machine.hpp"
#include "topoloom/capi/process_map.hpp"
#include "topoloom/place/effort.hpp"
#include "topoloom/place/mapper.hpp"

using namespace topoloom;

namespace {

struct OrderOptions {
    std::string mapper = auto_chain(Effort::fast);
    std::string objective = "hop-bytes";
    std::uint32_t seed = 1;
    std::uint32_t threads = 0;
    std::uint32_t seconds = 8;  // default time limit; short, because the whole job waits for the result

    void visit(auto& field) {
        field("mapper", mapper, "as for `topoloom map`");
        field("objective", objective, "what the order is to lower");
        field("seed", seed, Range{0, 4294967295.0}, "start of all that is random");
        field("threads", threads, Range{0, 4096}, "0: all cores");
        field("seconds", seconds, Range{0, 86400}, "after which the search ends; 0: when it is done");
    }
};

OrderOptions parse_order_options(std::string_view text) {
    if (text.empty()) return {};
    const NamedOptions named = read_named_options("options", "reorder(" + std::string(text) + ")");
    return read_options<OrderOptions>("reorder", named.options);
}

Groups make_groups(std::size_t processes, std::size_t levels, const std::int64_t* ids) {
    return {processes, levels, {ids, processes * levels}};
}

CommGraph make_graph(const topoloom_pattern& pattern) {
    const std::size_t edges = pattern.first[pattern.ranks];
    static_assert(sizeof(Rank) == sizeof(std::uint32_t) && sizeof(Bytes) == sizeof(std::int64_t));
    return CommGraph::from_csr({pattern.first, pattern.ranks + 1},
                               {reinterpret_cast<const Rank*>(pattern.peers), edges},
                               {reinterpret_cast<const Bytes*>(pattern.bytes), edges});
}

std::int64_t count_inter_node_bytes(const CommGraph& graph, const Allocation& at,
                                    const Placement& placement) {
    const Machine& machine = at.machine();
    std::int64_t sum = 0;
    for (const Rank u : ids<Rank>(graph.rank_count())) {
        for (const Edge edge : graph.sends(u)) {
            if (machine.node(placement[u]) != machine.node(placement[edge.peer])) sum += edge.bytes.value;
        }
    }
    return sum;
}

void compute_order(const Allocation& at, const topoloom_pattern& pattern, const OrderOptions& order_options,
                   std::uint32_t* process_of_rank, topoloom_gain& gain) {
    const CommGraph graph = make_graph(pattern);
    const Problem hop_bytes_problem(graph, at, order_options.seed, static_cast<int>(order_options.threads));
    const Objective objective = parse_objective(order_options.objective);
    const Problem problem = objective.is(ObjectiveKind::hop_bytes)
                                ? hop_bytes_problem
                                : hop_bytes_problem.with_objective(objective, {}, {});
    const Placement present(
        at, {at.slots().begin(), at.slots().begin() + static_cast<std::ptrdiff_t>(graph.rank_count())});
    // Limits time without setting a budget, because `auto` uses up a budget even on small problems.
    using Clock = std::chrono::steady_clock;
    const Clock::time_point end = Clock::now() + std::chrono::seconds(order_options.seconds);
    Budget budget;
    if (order_options.seconds > 0) budget.keep_going = [=](std::uint64_t) { return Clock::now() < end; };
    const Placement found = place(problem, order_options.mapper, budget).placement;
    const bool better = problem.key(found.slots()) < problem.key(present.slots());
    const Placement& chosen = better ? found : present;
    gain.before = problem.objective_value(present.slots());
    gain.after = problem.objective_value(chosen.slots());
    gain.inter_node_bytes_before = count_inter_node_bytes(graph, at, present);
    gain.inter_node_bytes_after = count_inter_node_bytes(graph, at, chosen);
    std::unordered_map<Slot, std::uint32_t> process_on;
    for (std::uint32_t p = 0; p < at.slot_count(); ++p) process_on[at.slots()[p]] = p;
    for (const Rank rank : ids<Rank>(graph.rank_count()))
        process_of_rank[rank.value] = process_on.at(chosen[rank]);
}

}  // namespace

int topoloom_process_map_from_groups(size_t processes, size_t levels, size_t node_level,
                                     const int64_t* groups, topoloom_process_map** process_map, char* error,
                                     size_t error_size) {
    return run_guarded(error, error_size, [&] {
        *process_map =
            new topoloom_process_map(learn_machine(make_groups(processes, levels, groups), node_level));
    });
}

int topoloom_process_map_on_machine(const char* machine, size_t processes, size_t levels,
                                    const int64_t* groups, topoloom_process_map** process_map, char* error,
                                    size_t error_size) {
    return run_guarded(error, error_size, [&] {
        *process_map =
            new topoloom_process_map(map_to_machine(machine, make_groups(processes, levels, groups)));
    });
}

const char* topoloom_process_map_machine(const topoloom_process_map* process_map) {
    return process_map->machine.text().c_str();
}

void topoloom_process_map_free(topoloom_process_map* process_map) { delete process_map; }

int topoloom_order(const topoloom_process_map* process_map, const topoloom_pattern* pattern,
                   const char* options, uint32_t* process_of_rank, topoloom_gain* gain, char* error,
                   size_t error_size) {
    return run_guarded(error, error_size, [&] {
        const OrderOptions order_options = parse_order_options(options == nullptr ? "" : options);
        compute_order(process_map->allocation, *pattern, order_options, process_of_rank, *gain);
    });
}
