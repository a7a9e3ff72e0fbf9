// SPDX-License-Identifier: BSD-3-Clause
// Tests balancers that prefer near partners: transports have minimum cost, and a receive limit changes
// neither the final loads nor the number of messages.
#include <doctest.h>

#include <map>
#include <numeric>
#include <set>

#include "balance/random_loads.hpp"
#include "topoloom/balance/balancer.hpp"
#include "topoloom/balance/near/cycles.hpp"
#include "topoloom/balance/near/distances.hpp"
#include "topoloom/balance/near/matching.hpp"
#include "topoloom/balance/near/near_order.hpp"
#include "topoloom/balance/near/receive_limit.hpp"
#include "topoloom/balance/near/transport.hpp"
#include "topoloom/balance/near/windows.hpp"
#include "topoloom/balance/nearest_plan.hpp"
#include "topoloom/balance/target_loads.hpp"
#include "topoloom/balance/transport_plan.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/bound/transport.hpp"
#include "topoloom/machine/allocations/fragments.hpp"
#include "topoloom/machine/text/machine_text.hpp"

using namespace topoloom;

namespace {

const std::vector<std::string> machines{
    "torus:4x4x4",           "mesh:30",           "tree:4:4:2,distance=1:10:100", "fattree:4:4:4",
    "dragonfly:5x4,nodes=2", "torus:3x5+node:2:2"};

/// Ranks on random slots of a machine, in random order.
std::vector<Slot> random_slots(const Machine& machine, Rng& rng) {
    const Allocation allocation = Allocation::whole(machine);
    std::vector<Slot> slots(allocation.slots().begin(), allocation.slots().end());
    rng.shuffle(std::span(slots));
    slots.resize(1 + rng.below(static_cast<std::uint32_t>(slots.size())));
    return slots;
}

struct NearCase {
    Machine machine;
    std::vector<Slot> slots;
    TaskCounts loads;

    NearCase(const std::string& text, Rng& rng)
        : machine(make_machine(text)),
          slots(random_slots(machine, rng)),
          loads(random_loads(slots.size(), 12, rng)) {}
    [[nodiscard]] BalanceProblem problem() const { return {loads, &machine, slots}; }
    [[nodiscard]] OrderedExcess near() const {
        TaskCounts excess = target_loads(loads);
        for (std::size_t i = 0; i < excess.size(); ++i) excess[i] = loads[i] - excess[i];
        const std::vector<std::uint32_t> order = near_order(machine, slots);
        return select_ordered_excess(order, meeting_times(machine, slots, order), excess);
    }
    [[nodiscard]] std::int64_t cost(const std::vector<Shipment>& shipments, const OrderedExcess& near) const {
        std::int64_t sum = 0;
        for (const auto& [sender, receiver, tasks] : shipments)
            sum += tasks * machine.distance(slots[near.ranks[sender]], slots[near.ranks[receiver]]);
        return sum;
    }
};

/// The excess that remains after the shipments.
TaskCounts remaining_excess(const OrderedExcess& near, const std::vector<Shipment>& shipments) {
    TaskCounts rest = near.excess;
    for (const auto& [sender, receiver, tasks] : shipments) {
        CHECK(tasks > 0);
        rest[sender] -= tasks;
        rest[receiver] += tasks;
    }
    return rest;
}

/// Reference: searches all ranks for the nearest sender along the order.
Plan reference_nearest_plan(const TaskCounts& loads, const std::vector<std::uint32_t>& order) {
    TaskCounts excess = target_loads(loads);
    for (std::size_t i = 0; i < excess.size(); ++i) excess[i] = loads[i] - excess[i];
    std::vector<std::size_t> lacking;
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (excess[order[i]] < 0) lacking.push_back(i);
    }
    Plan moves;
    for (std::size_t k = 0; k < lacking.size(); ++k) {
        const auto apart = [&](std::size_t i) { return i < lacking[k] ? lacking[k] - i : i - lacking[k]; };
        std::size_t sender = order.size();
        for (std::size_t i = 0; i < order.size(); ++i) {
            if (excess[order[i]] > 0 && (sender == order.size() || apart(i) < apart(sender))) sender = i;
        }
        moves.push_back({Rank{order[sender]}, Rank{order[lacking[k]]}, -excess[order[lacking[k]]]});
        excess[order[sender]] += excess[order[lacking[k]]];
        if (excess[order[sender]] < 0) lacking.push_back(sender);
    }
    return make_plan(std::move(moves));
}

}  // namespace

TEST_CASE("the cheapest transport costs exactly the proven minimum") {
    Rng rng(10);
    for (int draw = 0; draw < 60; ++draw) {
        for (const std::string& text : machines) {
            const NearCase one(text, rng);
            const OrderedExcess near = one.near();
            std::vector<std::uint32_t> giving, receiving;
            std::vector<std::uint64_t> supplies, capacities;
            for (std::size_t i = 0; i < near.ranks.size(); ++i) {
                const bool gives = near.excess[i] > 0;
                (gives ? giving : receiving).push_back(near.ranks[i]);
                (gives ? supplies : capacities)
                    .push_back(static_cast<std::uint64_t>(std::abs(near.excess[i])));
            }
            CHECK(is_transport_affordable(near, one.machine));
            const std::vector<Shipment> cheapest = cheapest_transport(near, one.machine, one.slots);
            const std::vector<Shipment> matched = match_near(near);
            for (const std::vector<Shipment>& shipments : {cheapest, matched}) {
                CHECK(std::ranges::count(remaining_excess(near, shipments), 0) == std::ssize(near.ranks));
                CHECK(shipments.size() <= near.ranks.size());
            }
            if (near.ranks.empty()) continue;
            std::vector<std::int64_t> costs;
            for (const std::uint32_t distance : distances_between(one.machine, one.slots, giving, receiving))
                costs.push_back(distance);
            const std::int64_t least = bound::min_transport_cost(costs, supplies, capacities);
            CHECK(one.cost(cheapest, near) == least);
            CHECK(one.cost(matched, near) >= least);
        }
    }
}

TEST_CASE("near matching is cheapest on a tree, because only the net excess leaves a subtree") {
    Rng rng(11);
    for (int draw = 0; draw < 100; ++draw) {
        const NearCase one("tree:4:4:3,distance=1:10:100", rng);
        const OrderedExcess near = one.near();
        CHECK(one.cost(match_near(near), near) ==
              one.cost(cheapest_transport(near, one.machine, one.slots), near));
    }
}

TEST_CASE("removing cycles of shipments never raises the cost and keeps what each rank sends and receives") {
    Rng rng(16);
    for (int draw = 0; draw < 300; ++draw) {
        const std::uint32_t senders = 1 + rng.below(8);
        const std::uint32_t receivers = 1 + rng.below(8);
        std::vector<Shipment> shipments;
        std::vector<std::uint32_t> costs;
        TaskCounts sums(senders + receivers, 0);
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> cost_of;
        for (std::uint32_t i = 0; i < senders; ++i) {
            for (std::uint32_t j = senders; j < senders + receivers; ++j) {
                if (rng.below(2) == 0) continue;
                shipments.push_back({i, j, 1 + rng.below(9)});
                costs.push_back(rng.below(5));
                cost_of[{i, j}] = costs.back();
                sums[i] -= shipments.back().tasks;
                sums[j] += shipments.back().tasks;
            }
        }
        const auto cost = [&](const std::vector<Shipment>& all) {
            std::int64_t sum = 0;
            for (const auto& [sender, receiver, tasks] : all) sum += tasks * cost_of.at({sender, receiver});
            return sum;
        };
        const std::vector<Shipment> left = remove_cycles(shipments, sums.size(), costs);
        CHECK(cost(left) <= cost(shipments));
        std::vector<std::uint32_t> part(sums.size());
        std::iota(part.begin(), part.end(), 0U);
        for (const auto& [sender, receiver, tasks] : left) {
            CHECK(tasks > 0);
            sums[sender] += tasks;
            sums[receiver] -= tasks;
            const std::uint32_t joined = part[receiver];
            CHECK(part[sender] != joined);
            std::ranges::replace(part, joined, part[sender]);
        }
        CHECK(std::ranges::count(sums, 0) == std::ssize(sums));
    }
}

TEST_CASE("improving shipments in windows lowers their cost and keeps the final loads" *
          doctest::test_suite("threads")) {
    Rng rng(17);
    const Machine machine = make_machine("torus:24x24x24");
    const Allocation allocation = fragmented_allocation(machine, 9000, 3, 1);
    const TaskCounts loads = random_loads(9000, 12, rng);
    const std::vector<std::uint32_t> order = near_order(machine, allocation.slots());
    TaskCounts excess = target_loads(loads);
    for (std::size_t i = 0; i < excess.size(); ++i) excess[i] = loads[i] - excess[i];
    const OrderedExcess near =
        select_ordered_excess(order, meeting_times(machine, allocation.slots(), order), excess);
    CHECK(!is_transport_affordable(near, machine));
    const std::vector<Shipment> matched = match_near(near);
    const std::vector<Shipment> improved = improve_in_windows(matched, near, machine, allocation.slots());
    const auto hops = [&](const std::vector<Shipment>& shipments) {
        const std::vector<std::uint32_t> each =
            shipment_distances(shipments, near.ranks, machine, allocation.slots());
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < shipments.size(); ++i) sum += shipments[i].tasks * each[i];
        return sum;
    };
    CHECK(hops(improved) < hops(matched));
    CHECK(remaining_excess(near, improved) == remaining_excess(near, matched));
    const Plan plan = transport_plan({loads, &machine, allocation.slots()}, order, 1);
    CHECK(loads_after(loads, plan) == target_loads(loads));
    CHECK(measure_plan(plan, loads.size()).max_receives == 1);
    CHECK(plan.size() < loads.size());
    CHECK(rounds_of(loads, plan) == 1);
}

TEST_CASE("a receive limit bounds the senders to each rank, and takes no further rounds or messages") {
    Rng rng(12);
    for (int draw = 0; draw < 60; ++draw) {
        for (const std::string& text : machines) {
            const NearCase one(text, rng);
            const std::vector<std::uint32_t> order = near_order(one.machine, one.slots);
            const Plan unlimited = transport_plan(one.problem(), order, 0);
            const TaskCounts ends = loads_after(one.loads, unlimited);
            CHECK(ends == target_loads(one.loads));
            for (const std::uint32_t most : {1U, 2U, 3U}) {
                const Plan plan = transport_plan(one.problem(), order, most);
                CHECK(loads_after(one.loads, plan) == ends);
                CHECK(plan.size() == unlimited.size());
                CHECK(measure_plan(plan, one.loads.size()).max_receives <= most);
                CHECK((plan.empty() || rounds_of(one.loads, plan) == 1));
            }
        }
    }
}

TEST_CASE("a rank that needs the excess of three ranks receives it from a chain, or from two of them") {
    const std::vector<Shipment> shipments{{1, 0, 3}, {2, 0, 1}, {3, 0, 2}};
    const auto has = [](const std::vector<Shipment>& all, Shipment one) {
        return std::ranges::count_if(all, [&](const Shipment& s) {
                   return s.sender == one.sender && s.receiver == one.receiver && s.tasks == one.tasks;
               }) == 1;
    };
    // The traversal starts at rank 1, which is therefore the last of the chain.
    const std::vector<Shipment> chain = limit_receives(shipments, 4, 1);
    CHECK(has(chain, {3, 0, 6}));
    CHECK(has(chain, {2, 3, 4}));
    CHECK(has(chain, {1, 2, 3}));
    const std::vector<Shipment> two = limit_receives(shipments, 4, 2);
    CHECK(has(two, {3, 0, 5}));
    CHECK(has(two, {2, 0, 1}));
    CHECK(has(two, {1, 3, 3}));
}

TEST_CASE("a locality-preserving order contains each rank once, and follows a line") {
    Rng rng(13);
    for (const std::string& text : machines) {
        const NearCase one(text, rng);
        const std::vector<std::uint32_t> order = near_order(one.machine, one.slots);
        CHECK(std::set(order.begin(), order.end()).size() == one.slots.size());
        CHECK(order.size() == one.slots.size());
    }
    const Machine line = make_machine("mesh:8");
    const std::vector<Slot> slots{Slot{6}, Slot{1}, Slot{4}};
    CHECK(near_order(line, slots) == std::vector<std::uint32_t>{1, 2, 0});
}

TEST_CASE(
    "along a curve, the alias and nearest-sender balancers take one round, with one sender per receiver") {
    Rng rng(14);
    for (int draw = 0; draw < 60; ++draw) {
        for (const std::string& text : machines) {
            const NearCase one(text, rng);
            const std::vector<std::uint32_t> order = near_order(one.machine, one.slots);
            const Plan nearest = nearest_plan(one.loads, order);
            CHECK(nearest == reference_nearest_plan(one.loads, order));
            CHECK(loads_after(one.loads, nearest) == target_loads(one.loads));
            const Plan curve = balance(one.problem(), "curve(partners=order)");
            CHECK(balance(one.problem(), "curve") == nearest);
            for (const Plan& plan : {nearest, curve}) {
                CHECK(measure_plan(plan, one.loads.size()).max_receives <= 1);
                CHECK((plan.empty() || rounds_of(one.loads, plan) == 1));
            }
        }
    }
    const Machine line = make_machine("mesh:40");
    const Allocation allocation = Allocation::whole(line);
    const TaskCounts loads = random_loads(40, 9, rng);
    const BalanceProblem problem{loads, &line, allocation.slots()};
    CHECK(balance(problem, "curve(partners=order)") == balance({loads}, "alias"));
}

TEST_CASE("by each cost, auto is at least as good as every method that it tries") {
    Rng rng(15);
    for (const std::string& text : machines) {
        const NearCase one(text, rng);
        const auto hops = [&](const char* method) {
            return count_task_hops(one.problem(), balance(one.problem(), method));
        };
        CHECK(hops("auto") <= hops("transport"));
        CHECK(hops("auto") <= hops("curve"));
        const std::size_t fewest = balance(one.problem(), "auto(cost=messages)").size();
        CHECK(fewest <= balance(one.problem(), "transport").size());
        CHECK(fewest <= balance(one.problem(), "curve").size());
        CHECK(loads_after(one.loads, balance(one.problem(), "auto(cost=busiest-link)")) ==
              target_loads(one.loads));
    }
    const TaskCounts loads = random_loads(20, 9, rng);
    CHECK(balance({loads}, "auto") == balance({loads}, "alias"));
}

TEST_CASE("on a torus, diffusion moves tasks between ranks of adjacent nodes") {
    Rng rng(16);
    const Machine machine = make_machine("torus:10x10x10");
    const Allocation allocation = Allocation::whole(machine);
    TaskCounts loads;
    for (int rank = 0; rank < 1000; ++rank) loads.push_back(20 + static_cast<std::int64_t>(rng.below(9)));
    const BalanceProblem problem{loads, &machine, allocation.slots()};
    for (const char* method : {"diffusion", "integer-diffusion", "laplacian"}) {
        const Plan near = balance(problem, method);
        const auto [least, most] = std::ranges::minmax(loads_after(loads, near));
        CHECK(most - least <= 2);
        for (const TaskMove& move : near) CHECK(count_task_hops(problem, {{move.from, move.to, 1}}) == 1);
        CHECK(count_task_hops(problem, near) < 0.7 * count_task_hops(problem, balance({loads}, method)));
    }
}

TEST_CASE("on every machine, diffusion and least-squares flows balance loads") {
    Rng rng(17);
    for (int draw = 0; draw < 10; ++draw) {
        for (const std::string& text : machines) {
            const NearCase one(text, rng);
            const EvenLoad even = compute_even_load(one.loads);
            for (const char* method : {"diffusion", "laplacian"}) {
                const TaskCounts ends = loads_after(one.loads, balance(one.problem(), method));
                CHECK(std::ranges::min(ends) >= even.floor);
                CHECK(std::ranges::max(ends) <= even.ceiling);
            }
        }
    }
}

TEST_CASE("near partners require a machine and a slot for each rank") {
    const TaskCounts loads{3, 1};
    CHECK_THROWS_WITH_AS(static_cast<void>(balance({loads}, "transport")),
                         "balancer 'transport' requires a machine; give one", Error);
    const Machine line = make_machine("mesh:3");
    const Allocation allocation = Allocation::whole(line);
    CHECK_THROWS_WITH_AS(static_cast<void>(balance({loads, &line, allocation.slots()}, "curve")),
                         "there are loads of 2 ranks, but 3 are placed", Error);
}
