// SPDX-License-Identifier: BSD-3-Clause
// C interface of rebalancing: balancers and mappers choose a process for each object.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "topoloom/balance/balancer.hpp"
#include "topoloom/balance/tasks/tasks.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/capi/error_boundary.hpp"
#include "topoloom/capi/process_map.hpp"
#include "topoloom/capi/topoloom_rebalance.h"
#include "topoloom/metric/proxies.hpp"
#include "topoloom/place/effort.hpp"
#include "topoloom/place/mapper.hpp"

using namespace topoloom;

namespace {

struct ObjectProgram {
    ObjectProgram(const topoloom_process_map& process_map, const topoloom_objects& given,
                  const topoloom_rebalance_options& options)
        : at(process_map.allocation),
          graph(make_graph(given)),
          rank_of(reinterpret_cast<const Rank*>(given.process),
                  reinterpret_cast<const Rank*>(given.process) + given.pattern.ranks),
          tasks{.loads = graph.all_loads(),
                .owners = rank_of,
                .ranks = at.slot_count(),
                .bytes = {given.moved_bytes, rank_of.size()},
                .tolerance = options.tolerance,
                .graph = &graph,
                .periods = std::max(options.periods, 1.0),
                .machine = &process_map.machine,
                .slots = at.slots()} {
        for (std::size_t i = 0; i < rank_of.size(); ++i) {
            if (rank_of[i].value >= at.slot_count())
                fail("object ", i, " is on process ", rank_of[i].value, ", and there are ", at.slot_count());
        }
    }
    static CommGraph make_graph(const topoloom_objects& given) {
        const topoloom_pattern& pattern = given.pattern;
        const std::size_t edges = pattern.first[pattern.ranks];
        CommGraph graph = CommGraph::from_csr({pattern.first, pattern.ranks + 1},
                                              {reinterpret_cast<const Rank*>(pattern.peers), edges},
                                              {reinterpret_cast<const Bytes*>(pattern.bytes), edges}, {},
                                              {given.seconds, given.seconds + pattern.ranks});
        if (given.is_proxied == nullptr) return graph;
        std::vector<Rank> proxied;
        for (std::uint32_t i = 0; i < pattern.ranks; ++i)
            if (given.is_proxied[i] != 0) proxied.emplace_back(i);
        return std::move(graph).with_proxies(std::move(proxied));
    }
    [[nodiscard]] std::vector<Slot> list_slots(std::span<const Rank> processes) const {
        std::vector<Slot> slots;
        for (const Rank process : processes) slots.push_back(at.slots()[process.value]);
        return slots;
    }
    [[nodiscard]] double busiest_seconds(std::span<const Rank> processes) const {
        return std::ranges::max(sum_rank_loads(tasks, processes));
    }
    [[nodiscard]] double average_seconds() const {
        return std::accumulate(tasks.loads.begin(), tasks.loads.end(), 0.0) /
               static_cast<double>(tasks.ranks);
    }
    [[nodiscard]] double hop_bytes(std::span<const Rank> processes) const {
        const std::vector<Slot> slots = list_slots(processes);
        return hop_bytes(graph.proxied().empty() ? graph : apply_proxies(graph, slots), slots);
    }
    [[nodiscard]] double hop_bytes(const CommGraph& sent, std::span<const Slot> slots) const {
        double sum = 0;
        for (const Rank u : ids<Rank>(sent.rank_count()))
            for (const Edge edge : sent.sends(u))
                sum += static_cast<double>(edge.bytes.value) *
                       at.machine().distance(slots[u.value], slots[edge.peer.value]);
        return sum;
    }

    const Allocation& at;
    CommGraph graph;
    std::vector<Rank> rank_of;
    Tasks tasks;
};

bool is_balancer(std::string_view policy) {
    const std::string_view name = policy.substr(0, policy.find('('));
    return std::ranges::find(balancers(), name, &Balancer::name) != balancers().end();
}

/// If objects with uneven loads do not fit, retries with a doubled tolerance.
std::vector<Rank> place_objects(const ObjectProgram& program, const std::string& chain,
                                const topoloom_rebalance_options& options, std::int64_t bytes_per_object) {
    const double heaviest = std::ranges::max(program.tasks.loads);
    const std::vector<Slot> present = program.list_slots(program.rank_of);
    for (double tolerance = std::max(options.tolerance, 0.01);; tolerance *= 2) {
        const double most = std::max((1 + tolerance) * program.average_seconds(), heaviest);
        try {
            const Problem problem =
                Problem(program.graph, program.at, options.seed, 0,
                        {std::nullopt, std::vector<double>(program.at.slot_count(), most)})
                    .with_migration({{present.begin(), present.end()}, Bytes{bytes_per_object}});
            const Placement found = place(problem, chain).placement;
            std::unordered_map<Slot, std::uint32_t> process_on;
            for (std::uint32_t p = 0; p < program.at.slot_count(); ++p) process_on[program.at.slots()[p]] = p;
            std::vector<Rank> processes;
            for (const Slot slot : found.slots()) processes.emplace_back(process_on.at(slot));
            return processes;
        } catch (const Error&) {
            if (tolerance > 1) throw;
        }
    }
}

std::vector<Rank> choose_processes(const ObjectProgram& program, const std::string& policy,
                                   const topoloom_objects& objects,
                                   const topoloom_rebalance_options& options) {
    if (policy == "none" || program.rank_of.empty()) return program.rank_of;
    const double before = program.busiest_seconds(program.rank_of);
    if (policy == "greedy" || policy == "few-bytes" || is_balancer(policy)) {
        std::vector<Rank> found = policy == "greedy"      ? balance_greedily(program.tasks)
                                  : policy == "few-bytes" ? balance_with_few_bytes(program.tasks)
                                                          : balance_by_plan(program.tasks, policy);
        std::vector<std::int64_t> leaving(program.tasks.ranks), coming(program.tasks.ranks);
        for (std::size_t i = 0; i < found.size(); ++i) {
            if (found[i] == program.rank_of[i]) continue;
            leaving[program.rank_of[i].value] += objects.moved_bytes[i];
            coming[found[i].value] += objects.moved_bytes[i];
        }
        const auto most = static_cast<double>(std::max(std::ranges::max(leaving), std::ranges::max(coming)));
        const double gain = (before - program.busiest_seconds(found)) * options.periods;
        return gain > 0 && gain > most * options.seconds_per_byte ? found : program.rank_of;
    }
    const bool by_mapper = policy != "repartition";
    const std::string chain = policy == "place" ? auto_chain(Effort::fast) : policy;
    const std::string name = policy.substr(0, policy.find_first_of("(+,"));
    if (by_mapper && name != "place" &&
        std::ranges::find(mappers(), name, &MapperEntry::name) == mappers().end()) {
        const std::vector<std::string> usual{"none",      "greedy", "few-bytes", "repartition",
                                             "diffusion", "alias",  "place",     "bricks"};
        throw Error(unknown_name_message("policy", name, usual) + ", other balancers, and other mappers");
    }
    const std::int64_t all_bytes =
        std::accumulate(objects.moved_bytes, objects.moved_bytes + program.rank_of.size(), std::int64_t{0});
    const auto per_object = static_cast<double>(all_bytes) / static_cast<double>(program.rank_of.size());
    std::vector<Rank> found =
        by_mapper ? place_objects(program, chain, options, std::llround(per_object / program.tasks.periods))
                  : repartition(program.tasks);
    const double after = program.busiest_seconds(found);
    const bool is_even = after <= (1 + options.tolerance) * program.average_seconds() || after <= before;
    const bool gains = program.hop_bytes(found) < program.hop_bytes(program.rank_of) || after < before;
    return is_even && gains ? found : program.rank_of;
}

/// Throws Error if all processes are on one node of a larger machine, and at no distance from each other.
void require_distances(const topoloom_process_map& process_map) {
    const Machine& machine = process_map.machine;
    const std::span<const Slot> slots = process_map.allocation.slots();
    const Node first = machine.node(slots.front());
    if (machine.node_count() == 1 || slots.size() == 1 || machine.node_spec().levels.distances().back() > 0 ||
        !std::ranges::all_of(slots, [&](Slot slot) { return machine.node(slot) == first; }))
        return;
    fail("all ", slots.size(), " processes are on node ", first.value, " of ", machine.text(),
         ", at distance 0: give the node of each process");
}

}  // namespace

int topoloom_rebalance(const topoloom_process_map* process_map, const topoloom_objects* objects,
                       const char* policy, const topoloom_rebalance_options* options,
                       uint32_t* process_of_object, topoloom_rebalance_result* result, char* error,
                       size_t error_size) {
    return run_guarded(error, error_size, [&] {
        require_distances(*process_map);
        const ObjectProgram program(*process_map, *objects, *options);
        const std::vector<Rank> found = choose_processes(program, policy, *objects, *options);
        *result = {};
        for (std::size_t i = 0; i < found.size(); ++i) {
            process_of_object[i] = found[i].value;
            if (found[i] == program.rank_of[i]) continue;
            ++result->moved;
            result->moved_bytes += objects->moved_bytes[i];
        }
        result->busiest_before = program.busiest_seconds(program.rank_of);
        result->busiest_after = program.busiest_seconds(found);
        result->average = program.average_seconds();
        result->hop_bytes_before = program.hop_bytes(program.rank_of);
        result->hop_bytes_after = program.hop_bytes(found);
    });
}
