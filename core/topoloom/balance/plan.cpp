// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/plan.hpp"

#include <algorithm>
#include <tuple>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

/// Totals of one rank, from which the measures are computed.
struct RankMeasures {
    std::int64_t sends = 0;
    std::int64_t receives = 0;
    std::int64_t sent = 0;
    std::int64_t received = 0;
};

bool is_before(const TaskMove& a, const TaskMove& b) {
    return std::tie(a.from, a.to) < std::tie(b.from, b.to);
}

/// Moves are sorted by sender with a counting sort; each sender has few moves.
Plan sort_by_sender(const Plan& moves) {
    std::uint32_t last = 0;
    for (const TaskMove& move : moves) last = std::max(last, move.from.value);
    BigVector<std::uint32_t> end(std::size_t{last} + 2, 0);
    for (const TaskMove& move : moves) ++end[move.from.value + 1];
    for (std::size_t i = 1; i < end.size(); ++i) end[i] += end[i - 1];
    Plan plan(moves.size());
    for (const TaskMove& move : moves) plan[end[move.from.value]++] = move;
    std::uint32_t begin = 0;
    for (std::uint32_t from = 0; from <= last; ++from) {
        const std::span<TaskMove> own(plan.data() + begin, end[from] - begin);
        if (own.size() > 1) std::ranges::sort(own, {}, &TaskMove::to);
        begin = end[from];
    }
    return plan;
}

}  // namespace

PlanMeasures measure_plan(const Plan& plan, std::size_t ranks) {
    std::vector<RankMeasures> measures_of_rank(ranks);
    PlanMeasures all;
    for (const auto& [from, to, tasks] : plan) {
        RankMeasures& sender = measures_of_rank[from.value];
        ++sender.sends;
        sender.sent += tasks;
        RankMeasures& receiver = measures_of_rank[to.value];
        ++receiver.receives;
        receiver.received += tasks;
        ++all.messages;
        all.tasks += tasks;
    }
    for (const RankMeasures& share : measures_of_rank) {
        all.max_receives = std::max(all.max_receives, share.receives);
        all.max_tasks_received = std::max(all.max_tasks_received, share.received);
        all.max_sends = std::max(all.max_sends, share.sends);
        all.max_tasks_sent = std::max(all.max_tasks_sent, share.sent);
    }
    return all;
}

PlanMeasures least_measures(std::span<const std::int64_t> loads, std::span<const std::int64_t> ends) {
    PlanMeasures least;
    std::int64_t gaining = 0;
    std::int64_t losing = 0;
    std::int64_t able = 0;
    for (std::size_t i = 0; i < loads.size(); ++i) {
        const std::int64_t gain = ends[i] - loads[i];
        gaining += gain > 0 ? 1 : 0;
        losing += gain < 0 ? 1 : 0;
        able += loads[i] > 0 ? 1 : 0;
        least.tasks += std::max<std::int64_t>(gain, 0);
        least.max_tasks_received = std::max(least.max_tasks_received, gain);
        least.max_tasks_sent = std::max(least.max_tasks_sent, -gain);
    }
    least.messages = std::max(gaining, losing);
    const auto shared_by = [&](std::int64_t ranks) {
        return least.messages == 0 ? 0 : (least.messages + ranks - 1) / ranks;
    };
    least.max_receives = shared_by(static_cast<std::int64_t>(loads.size()));
    least.max_sends = shared_by(able);
    return least;
}

std::vector<std::int64_t> loads_after(std::span<const std::int64_t> loads, const Plan& plan) {
    std::vector<std::int64_t> ends(loads.begin(), loads.end());
    for (const auto& [from, to, tasks] : plan) {
        ends[from.value] -= tasks;
        ends[to.value] += tasks;
    }
    return ends;
}

std::uint32_t rounds_of(std::span<const std::int64_t> loads, const Plan& plan) {
    std::vector<std::int64_t> load(loads.begin(), loads.end());
    Plan left = plan;
    std::uint32_t rounds = 0;
    while (!left.empty()) {
        ++rounds;
        std::vector<std::int64_t> before = load;  // tasks received in this round can be sent only in the next
        std::erase_if(left, [&](TaskMove& move) {
            const std::int64_t sent = std::min(move.tasks, before[move.from.value]);
            before[move.from.value] -= sent;
            load[move.from.value] -= sent;
            load[move.to.value] += sent;
            move.tasks -= sent;
            return move.tasks == 0;
        });
        const bool stuck =
            std::ranges::all_of(left, [&](const TaskMove& m) { return load[m.from.value] == 0; });
        if (stuck && !left.empty()) fail("rank ", left.front().from.value, " sends tasks that it never has");
    }
    return rounds;
}

Plan make_plan(Plan moves) {
    if (!std::ranges::is_sorted(moves, is_before)) moves = sort_by_sender(moves);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < moves.size(); ++i) {
        if (moves[i].tasks == 0) continue;
        const bool again =
            kept > 0 && moves[kept - 1].from == moves[i].from && moves[kept - 1].to == moves[i].to;
        if (again)
            moves[kept - 1].tasks += moves[i].tasks;
        else
            moves[kept++] = moves[i];
    }
    moves.resize(kept);
    return moves;
}

}  // namespace topoloom
