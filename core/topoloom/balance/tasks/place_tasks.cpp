// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/tasks/place_tasks.hpp"

#include <cmath>
#include <exception>
#include <numeric>
#include <unordered_map>

#include "topoloom/base/error.hpp"
#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/place/effort.hpp"
#include "topoloom/place/mapper.hpp"

namespace topoloom {

std::optional<std::vector<Part>> place_tasks(const Tasks& tasks) {
    if (tasks.machine == nullptr || tasks.graph == nullptr) return std::nullopt;
    const CommGraph& graph = *tasks.graph;
    const double bytes = std::accumulate(tasks.bytes.begin(), tasks.bytes.end(), 0.0);
    const double per_period = bytes / static_cast<double>(tasks.loads.size()) / tasks.periods;
    Migration migration{{}, Bytes{std::llround(per_period)}};
    for (const Rank owner : tasks.owners) migration.from.emplace_back(tasks.slots[owner.value]);
    std::unordered_map<Slot, std::uint32_t> rank_on;
    for (std::uint32_t rank = 0; rank < tasks.ranks; ++rank) rank_on.emplace(tasks.slots[rank], rank);
    try {
        const CommGraph loaded = CommGraph::from_csr(graph.first(), graph.all_peers(), graph.all_bytes(), {},
                                                     {tasks.loads.begin(), tasks.loads.end()});
        const Allocation allocation =
            Allocation::of_slots(*tasks.machine, {tasks.slots.begin(), tasks.slots.end()});
        const Sharing sharing{std::nullopt, std::vector<double>(tasks.ranks, load_limit(tasks))};
        const Problem problem =
            Problem(loaded, allocation, 1, 0, sharing).with_migration(std::move(migration));
        Budget budget;
        std::exception_ptr raised;
        if (tasks.poll) {
            budget.keep_going = [&](std::uint64_t) {
                try {
                    tasks.poll();
                } catch (...) {
                    raised = std::current_exception();
                }
                return raised == nullptr;
            };
        }
        const Placement found = place(problem, auto_chain(Effort::fast), budget).placement;
        if (raised) std::rethrow_exception(raised);
        std::vector<Part> parts;
        for (const Slot slot : found.slots()) parts.emplace_back(rank_on.at(slot));
        return parts;
    } catch (const Error&) {
        return std::nullopt;
    }
}

}  // namespace topoloom
