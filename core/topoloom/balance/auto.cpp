// SPDX-License-Identifier: BSD-3-Clause
// The automatic balancer, which computes plans of several balancers and returns the cheapest.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "topoloom/balance/alias.hpp"
#include "topoloom/balance/balancer.hpp"
#include "topoloom/balance/near/near_order.hpp"
#include "topoloom/balance/nearest_plan.hpp"
#include "topoloom/balance/transport_plan.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/metric/judge.hpp"

namespace topoloom {

namespace {

enum class PlanCost { hop_bytes, busiest_link, messages };

/// Limits on senders per receiver to try besides the default, on machines with link bandwidths: the plan with
/// the fewest hops may overload a link. The limit does not change the number of messages.
constexpr std::uint32_t further_receive_limits[] = {1, 3, 4, 0};
/// Above this number of ranks only the default limit is tried: evaluating a plan takes a sixth of a second
/// for a million ranks.
constexpr std::size_t many_ranks = 300'000;

struct AutoOptions {
    PlanCost cost = PlanCost::hop_bytes;
    void visit(auto& field) {
        field("cost", cost, Choices{"hop-bytes", "busiest-link", "messages"},
              "quantity that the plan minimizes on a machine");
    }
};

/// Congestion if each task has one byte: the maximum over all links of bytes divided by bandwidth.
double compute_congestion(const BalanceProblem& problem, const Plan& plan) {
    std::vector<Rank> senders;
    std::vector<Rank> receivers;
    std::vector<Bytes> bytes;
    for (const auto& [from, to, tasks] : plan) {
        senders.push_back(from);
        receivers.push_back(to);
        bytes.emplace_back(tasks);
    }
    const CommGraph sent = CommGraph::from_edges(problem.loads.size(), senders, receivers, bytes);
    const Placement placement = Placement::from_saved_slots(
        problem.machine->shared_text(), {problem.slots.begin(), problem.slots.end()}, SlotUse::shared);
    return judge(sent, *problem.machine, placement).congestion_max;
}

Plan run_auto(const BalanceProblem& problem, const AutoOptions& options) {
    if (problem.machine == nullptr) {
        if (options.cost != PlanCost::hop_bytes)
            fail("balancer 'auto' with a cost requires a machine; give one");
        return balance(problem, "alias");
    }
    const auto hops = [&](const Plan& plan) { return count_task_hops(problem, plan); };
    const auto messages = [](const Plan& plan) { return static_cast<double>(plan.size()); };
    const auto cost = [&](const Plan& plan) -> std::pair<double, double> {
        switch (options.cost) {
            case PlanCost::hop_bytes:
                return {hops(plan), messages(plan)};
            case PlanCost::busiest_link:
                return {compute_congestion(problem, plan), hops(plan)};
            case PlanCost::messages:
                return {messages(plan), hops(plan)};
        }
        return {};
    };
    Plan best;
    std::pair<double, double> least{std::numeric_limits<double>::infinity(), 0};
    const std::vector<std::uint32_t> order = near_order(*problem.machine, problem.slots);
    std::vector<std::uint32_t> receive_limits{default_receive_limit};
    if (options.cost == PlanCost::busiest_link && problem.loads.size() <= many_ranks)
        receive_limits.insert(receive_limits.end(), std::begin(further_receive_limits),
                              std::end(further_receive_limits));
    std::vector<Plan> plans = transport_plans(problem, order, receive_limits);
    plans.push_back(nearest_plan(problem.loads, order));
    plans.push_back(alias_plan(problem.loads, Remainder::exact, order));
    for (Plan& plan : plans) {
        const std::pair<double, double> own = cost(plan);
        if (own >= least) continue;
        least = own;
        best = std::move(plan);
    }
    return best;
}

}  // namespace

Balancer auto_balancer() {
    return balancer<run_auto>(
        {.name = "auto", .summary = "the cheaper plan of transport and curve; without a machine, alias"});
}

}  // namespace topoloom
