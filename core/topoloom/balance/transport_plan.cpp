// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/transport_plan.hpp"

#include <utility>
#include <vector>

#include "topoloom/balance/near/matching.hpp"
#include "topoloom/balance/near/near_order.hpp"
#include "topoloom/balance/near/receive_limit.hpp"
#include "topoloom/balance/near/transport.hpp"
#include "topoloom/balance/near/windows.hpp"
#include "topoloom/balance/target_loads.hpp"

namespace topoloom {

std::vector<Plan> transport_plans(const BalanceProblem& problem, std::span<const std::uint32_t> order,
                                  std::span<const std::uint32_t> receives) {
    std::vector<std::int64_t> excess = target_loads(problem.loads);
    for (std::size_t i = 0; i < excess.size(); ++i) excess[i] = problem.loads[i] - excess[i];
    const OrderedExcess near =
        select_ordered_excess(order, meeting_times(*problem.machine, problem.slots, order), excess);
    const std::vector<Shipment> cheapest =
        is_transport_affordable(near, *problem.machine)
            ? cheapest_transport(near, *problem.machine, problem.slots)
            : improve_in_windows(match_near(near), near, *problem.machine, problem.slots);
    std::vector<Plan> plans;
    for (const std::uint32_t most : receives) {
        const std::vector<Shipment> shipments =
            most > 0 ? limit_receives(cheapest, near.ranks.size(), most) : cheapest;
        Plan moves;
        moves.reserve(shipments.size());
        for (const auto& [sender, receiver, tasks] : shipments)
            moves.push_back({Rank{near.ranks[sender]}, Rank{near.ranks[receiver]}, tasks});
        plans.push_back(make_plan(std::move(moves)));
    }
    return plans;
}

Plan transport_plan(const BalanceProblem& problem, std::span<const std::uint32_t> order,
                    std::uint32_t receives) {
    return std::move(transport_plans(problem, order, std::span(&receives, 1)).front());
}

double count_task_hops(const BalanceProblem& problem, const Plan& plan) {
    const std::span<const Slot> slots = problem.slots;
    double sum = 0;
    for (const auto& [from, to, tasks] : plan)
        sum += static_cast<double>(tasks) * problem.machine->distance(slots[from.value], slots[to.value]);
    return sum;
}

namespace {

struct TransportOptions {
    std::uint32_t receives = default_receive_limit;
    void visit(auto& field) {
        field("receives", receives, Range{0, 1e6}, "maximum number of senders per receiver; 0: unlimited");
    }
};

Plan run_transport(const BalanceProblem& problem, const TransportOptions& options) {
    return transport_plan(problem, near_order(*problem.machine, problem.slots), options.receives);
}

}  // namespace

Balancer transport_balancer() {
    return balancer<run_transport>(
        {.name = "transport",
         .summary = "surplus tasks move to ranks with a deficit over the fewest hops",
         .source = "transportation simplex: Dantzig 1951",
         .needs_machine = true});
}

}  // namespace topoloom
