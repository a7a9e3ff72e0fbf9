// SPDX-License-Identifier: BSD-3-Clause
// Balancers for C.
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "topoloom/balance/balancer.hpp"
#include "topoloom/balance/distributed/decide.hpp"
#include "topoloom/balance/distributed/decision_times.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/capi/error_boundary.hpp"
#include "topoloom/capi/topoloom_balancers.h"
#include "topoloom/machine/text/machine_text.hpp"

using namespace topoloom;

struct topoloom_balancer {
    std::string method;
    std::optional<Machine> machine;
    std::vector<Slot> slots;
};

namespace {

struct OwnPlanShares {
    std::vector<topoloom_share> to, from;
};

void move_to_plan(OwnPlanShares shares, topoloom_own_plan* plan) {
    auto owner = std::make_unique<OwnPlanShares>(std::move(shares));
    *plan = {owner->to.size(), owner->from.size(), owner->to.data(), owner->from.data(), nullptr};
    plan->owner = owner.release();
}

/// Sends and receives on the channel until the coroutine has decided on a plan. Returns false if a message
/// failed.
bool run_on_channel(PeerChannel& channel, Coroutine<OwnPlan>& coroutine, const topoloom_channel& messages) {
    coroutine.start();
    while (true) {
        for (const auto& [to, topic, words] : channel.take_messages()) {
            if (messages.send(messages.context, to, static_cast<int>(topic), words.data(), words.size()) != 0)
                return false;
        }
        if (coroutine.done()) return true;
        const std::int64_t* words = nullptr;
        std::size_t count = 0;
        if (messages.receive(messages.context, channel.from().value_or(TOPOLOOM_ANY_RANK),
                             static_cast<int>(channel.topic()), &words, &count) != 0)
            return false;
        channel.deliver({words, words + count});
    }
}

}  // namespace

void topoloom_own_plan_free(topoloom_own_plan* plan) {
    delete static_cast<OwnPlanShares*>(plan->owner);
    *plan = {};
}

int topoloom_balancer_make(const char* method, const char* machine, size_t ranks, const uint32_t* slots,
                           topoloom_balancer** balancer, char* error, size_t error_size) {
    return run_guarded(error, error_size, [&] {
        auto made = std::make_unique<topoloom_balancer>();
        made->method = method;
        if (forwards_tasks(made->method))
            fail("balancer '", method, "' may forward received tasks in further rounds; ",
                 "use a balancer with a single round, such as sweep");
        if (machine != nullptr) {
            made->machine = make_machine(machine);
            for (const std::uint32_t slot : std::span(slots, ranks)) {
                if (slot >= made->machine->slot_count())
                    fail("slot ", slot, " is none of the ", made->machine->slot_count(), " slots of ",
                         machine);
                made->slots.emplace_back(slot);
            }
        }
        // Balances zero loads, to check method name, options and machine before loads are known.
        const std::vector<std::int64_t> nothing(ranks, 0);
        BalanceProblem problem{nothing};
        if (made->machine) {
            problem.machine = &*made->machine;
            problem.slots = made->slots;
        }
        static_cast<void>(balance(problem, made->method));
        *balancer = made.release();
    });
}

void topoloom_balancer_free(topoloom_balancer* balancer) { delete balancer; }

int topoloom_balancer_own_plan(const topoloom_balancer* balancer, size_t ranks, const int64_t* loads,
                               uint32_t rank, topoloom_own_plan* plan, char* error, size_t error_size) {
    return run_guarded(error, error_size, [&] {
        BalanceProblem problem{{loads, ranks}};
        if (balancer->machine) {
            problem.machine = &*balancer->machine;
            problem.slots = balancer->slots;
        }
        problem.only = Rank{rank};
        OwnPlanShares shares;
        for (const auto& [from, to, tasks] : balance(problem, balancer->method)) {
            if (from.value == rank) shares.to.push_back({to.value, tasks});
            if (to.value == rank) shares.from.push_back({from.value, tasks});
        }
        move_to_plan(std::move(shares), plan);
    });
}

int topoloom_decide_by_messages(uint32_t rank, uint32_t ranks, int64_t load, const topoloom_channel* messages,
                                topoloom_own_plan* plan, char* error, size_t error_size) {
    bool is_complete = true;
    const int status = run_guarded(error, error_size, [&] {
        PeerChannel channel;
        Coroutine<OwnPlan> coroutine = decide(channel, rank, ranks, load);
        is_complete = run_on_channel(channel, coroutine, *messages);
        if (!is_complete) fail("a message between ranks failed");
        const OwnPlan own = coroutine.take();
        OwnPlanShares shares;
        for (const auto& [to, tasks] : own.to) shares.to.push_back({to, tasks});
        if (own.from) shares.from.push_back({own.from->rank, own.from->tasks});
        move_to_plan(std::move(shares), plan);
    });
    return is_complete ? status : 2;
}

int topoloom_gathers_loads(uint32_t ranks, uint32_t nodes, uint32_t smallest_node, double message_s,
                           double byte_s) {
    DecisionCosts costs;
    if (message_s > 0) costs.message_s = message_s;
    if (byte_s > 0) costs.byte_s = byte_s;
    const DecisionTimes times = decision_times({ranks, nodes, smallest_node}, costs);
    return std::min(times.gathered, times.by_node) <= times.distributed ? 1 : 0;
}

int topoloom_gathers_by_node(uint32_t ranks, uint32_t nodes, uint32_t smallest_node) {
    const DecisionTimes times = decision_times({ranks, nodes, smallest_node}, {});
    return times.by_node < times.gathered ? 1 : 0;
}
