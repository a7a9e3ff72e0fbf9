// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/tasks/measures.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "topoloom/balance/tasks/cover.hpp"

namespace topoloom {

namespace {

/// Relative margin for rounding errors of sums in a different order.
constexpr double sum_error = 1e-12;

/// Minimum bytes that a rank must send, regardless of the receivers.
std::int64_t min_sent_bytes(const Tasks& tasks, std::span<const std::uint32_t> tasks_of_rank, double limit) {
    double load = 0, bytes = 0;
    for (const std::uint32_t task : tasks_of_rank) {
        load += tasks.loads[task];
        bytes += static_cast<double>(tasks.bytes[task]);
    }
    double least = std::max(0.0, bytes - static_cast<double>(tasks.memory));
    if (load > limit) least = std::max(least, cheapest_cover(tasks, tasks_of_rank, load - limit).least_bytes);
    return static_cast<std::int64_t>(std::ceil(least * (1 - sum_error)));
}

/// Cost of an assignment of owners in bytes and hops.
TaskMeasures sum_crossing_bytes(const Tasks& tasks, std::span<const Rank> owners) {
    const auto distance = [&](Rank a, Rank b) {
        return tasks.machine == nullptr ? 0.0
                                        : tasks.machine->distance(tasks.slots[a.value], tasks.slots[b.value]);
    };
    TaskMeasures found;
    for (const Rank task : ids<Rank>(tasks.graph == nullptr ? 0 : owners.size())) {
        for (const Edge edge : tasks.graph->sends(task)) {
            const Rank from = owners[task.value], to = owners[edge.peer.value];
            if (from == to) continue;
            found.cut_bytes += edge.bytes.value;
            found.hop_bytes += static_cast<double>(edge.bytes.value) * distance(from, to);
        }
    }
    for (std::size_t i = 0; i < tasks.bytes.size(); ++i) {
        if (owners[i] == tasks.owners[i]) continue;
        found.moved_bytes += tasks.bytes[i];
        found.moved_hop_bytes += static_cast<double>(tasks.bytes[i]) * distance(tasks.owners[i], owners[i]);
    }
    const double share = tasks.machine == nullptr ? 1 : byte_inside_node;
    found.cost = tasks.periods * (found.hop_bytes + share * static_cast<double>(found.cut_bytes)) +
                 found.moved_hop_bytes + share * static_cast<double>(found.moved_bytes);
    return found;
}

}  // namespace

double task_cost(const Tasks& tasks, std::span<const Rank> owners) {
    return sum_crossing_bytes(tasks, owners).cost;
}

TaskMeasures measure_tasks(const Tasks& tasks, std::span<const Rank> owners) {
    TaskMeasures found = sum_crossing_bytes(tasks, owners);
    found.load_max = std::ranges::max(sum_rank_loads(tasks, owners));
    found.load_limit = load_limit(tasks);
    if (tasks.bytes.empty()) return found;
    std::vector<std::vector<std::uint32_t>> tasks_of_rank(tasks.ranks);
    for (std::uint32_t i = 0; i < owners.size(); ++i) tasks_of_rank[tasks.owners[i].value].push_back(i);
    // If tasks are so large that the limit was not reached, count only the bytes that ranks had to send to
    // reach the final maximum load.
    const double reached = std::max(found.load_limit, found.load_max * (1 + sum_error));
    for (const std::vector<std::uint32_t>& list : tasks_of_rank)
        found.least_bytes += min_sent_bytes(tasks, list, reached);
    return found;
}

}  // namespace topoloom
