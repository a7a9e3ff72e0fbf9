// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>
#include <utility>

#include "topoloom/balance/tasks/exact_search.hpp"
#include "topoloom/balance/tasks/few_bytes.hpp"
#include "topoloom/balance/tasks/place_tasks.hpp"
#include "topoloom/balance/tasks/refine.hpp"
#include "topoloom/balance/tasks/relief.hpp"
#include "topoloom/balance/tasks/task_levels.hpp"
#include "topoloom/balance/tasks/task_partition.hpp"
#include "topoloom/balance/tasks/tasks.hpp"
#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

/// Number of new splits tried, and limits on the number of cycles and of successive cycles without a gain.
constexpr std::uint64_t splits = 4;
constexpr std::uint64_t max_cycles = 12;
constexpr int max_idle_cycles = 4;
/// With more tasks, only one split and few cycles are tried, and ranks are relieved directly at fine levels,
/// because searching for paths visits all edges.
constexpr std::size_t many_tasks = 100'000;
constexpr std::uint64_t few_cycles = 3;
/// Allowed excess over the limit at coarse levels, in loads of the heaviest vertex; finer levels correct it.
constexpr double slack_vertices = 2;

std::vector<Part> parts_of(std::span<const Rank> ranks) {
    std::vector<Part> parts;
    for (const Rank rank : ranks) parts.emplace_back(rank.value);
    return parts;
}
std::vector<Rank> ranks_of(std::span<const Part> parts) {
    std::vector<Rank> ranks;
    for (const Part part : parts) ranks.emplace_back(part.value);
    return ranks;
}

struct RatedParts {
    std::vector<Part> part;
    double excess;  // excess of the fullest rank
    double cost;

    [[nodiscard]] bool is_better_than(const RatedParts& other) const {
        return excess != other.excess ? excess < other.excess : cost < other.cost;
    }
};

class RepartitionSearch {
   public:
    explicit RepartitionSearch(const Tasks& tasks) : tasks_(tasks), distance_(tasks) {}

    std::vector<Rank> run() {
        const std::vector<Part> homes = parts_of(tasks_.owners);
        const std::vector<TaskLevel> levels_by_owner = build_task_levels(tasks_, homes, Rng(1));
        best_ = refine_and_rate(levels_by_owner.front(), parts_of(balance_with_few_bytes(tasks_)));
        if (tasks_.graph == nullptr && distance_.is_uniform()) return ranks_of(best_.part);
        const std::vector<Part> start = project_to_coarsest(levels_by_owner, homes);
        record_if_better(descend(levels_by_owner, start, relieve_directly));
        record_if_better(descend(levels_by_owner, start, relieve_along_paths));
        const bool many = tasks_.loads.size() > many_tasks;
        for (std::uint64_t number = 0; number < (many ? 1 : splits); ++number) {
            const std::vector<TaskLevel> levels = build_task_levels(tasks_, {}, Rng(2, number));
            const std::vector<Part> new_parts = split_coarsest(levels.back(), tasks_.ranks, Rng(3, number));
            record_if_better(descend(levels, new_parts, relieve_along_paths));
        }
        if (const std::optional<std::vector<Part>> mapped_parts = place_tasks(tasks_))
            record_if_better(
                fit_to_limits(levels_by_owner.front(),
                              TaskPartition(tasks_, distance_, levels_by_owner.front(), *mapped_parts)));
        int idle = 0;
        const std::uint64_t most_cycles = many ? few_cycles : max_cycles;
        for (std::uint64_t cycle = 0; cycle < most_cycles && idle < max_idle_cycles; ++cycle) {
            const std::vector<TaskLevel> levels = build_task_levels(tasks_, best_.part, Rng(4, cycle));
            const bool gains =
                record_if_better(descend(levels, project_to_coarsest(levels, best_.part), relieve_directly));
            idle = gains ? 0 : idle + 1;
        }
        return find_exact_owners(tasks_, ranks_of(best_.part));
    }

   private:
    bool record_if_better(const std::optional<RatedParts>& found) {
        if (!found || !found->is_better_than(best_)) return false;
        best_ = *found;
        return true;
    }

    /// Refines parts of the coarsest level, then of each finer level; returns none if memory does not
    /// suffice.
    std::optional<RatedParts> descend(std::span<const TaskLevel> levels, std::vector<Part> part,
                                      void (*relieve)(TaskPartition&)) {
        for (std::size_t i = levels.size() - 1; i > 0; --i) {
            const double slack = slack_vertices * std::ranges::max(levels[i].load);
            TaskPartition parts(tasks_, distance_, levels[i], std::move(part), slack);
            (levels[i].graph.size() > many_tasks ? relieve_directly : relieve)(parts);
            refine_parts(parts);
            const TaskLevel& finer = levels[i - 1];
            part.assign(finer.graph.size(), Part{0});
            for (const Vertex v : finer.graph.vertices()) part[v.value] = parts[finer.coarse_of[v.value]];
        }
        TaskPartition parts(tasks_, distance_, levels.front(), std::move(part));
        (parts.part_of_vertex().size() > many_tasks ? relieve_directly : relieve)(parts);
        return fit_to_limits(levels.front(), parts);
    }

    /// If ranks still exceed their limits, moves as few bytes as possible.
    std::optional<RatedParts> fit_to_limits(const TaskLevel& level, const TaskPartition& parts) {
        if (!parts.any_exceeds()) return refine_and_rate(level, parts.part_of_vertex());
        const std::vector<Rank> present = ranks_of(parts.part_of_vertex());
        Tasks rest = tasks_;
        rest.owners = present;
        try {
            return refine_and_rate(level, parts_of(assign_with_few_bytes(rest)));
        } catch (const Error&) {
            return std::nullopt;
        }
    }

    RatedParts refine_and_rate(const TaskLevel& level, std::vector<Part> part) {
        TaskPartition parts(tasks_, distance_, level, std::move(part));
        refine_parts(parts);
        double excess = 0;
        for (const Part rank : ids<Part>(tasks_.ranks)) excess = std::max(excess, parts.excess(rank));
        return {parts.part_of_vertex(), excess, parts.cost()};
    }

    const Tasks& tasks_;
    RankDistance distance_;
    RatedParts best_{{}, 0, 0};
};

}  // namespace

std::vector<Rank> repartition(const Tasks& tasks) {
    check_tasks(tasks);
    return RepartitionSearch(tasks).run();
}

}  // namespace topoloom
