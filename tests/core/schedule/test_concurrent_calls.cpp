// SPDX-License-Identifier: BSD-3-Clause
// Concurrent calls of the same schedule in several groups of ranks, whose messages share links.
#include <doctest.h>

#include <algorithm>
#include <vector>

#include "schedule/each_candidate.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/machine/network_view.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/schedule/cost/cost.hpp"
#include "topoloom/schedule/cost/messages.hpp"

using namespace topoloom;

namespace {

const NetworkModel model = NetworkModel::regimes({{1e-6, 1e-10}});

std::vector<Slot> random_slots(const Machine& machine, std::size_t count, Rng& rng) {
    std::vector<Slot> slots;
    for (std::size_t i = 0; i < count; ++i)
        slots.emplace_back(rng.below(static_cast<std::uint32_t>(machine.slot_count())));
    return slots;
}

/// Reference: for each round the load of the busiest link by all calls, summed over rounds.
double reference_congestion(const AnySchedule& schedule, const Machine& machine,
                            const std::vector<Slot>& slots) {
    double sum = 0;
    const auto [rounds, ranks] = std::pair(schedule.rounds(), schedule.collective().ranks());
    for (std::uint64_t round = 0; round < rounds; ++round) {
        std::vector<SentMessage> messages;
        list_messages(schedule, round, messages);
        std::vector<double> seconds(machine.link_count());
        for (std::size_t call = 0; call < slots.size(); call += ranks) {
            for (const SentMessage& message : messages) {
                const Node from = machine.node(slots[call + message.from.value]);
                const Node to = machine.node(slots[call + message.to.value]);
                with_topology(machine, [&](const auto& network) {
                    network.route(from, to, [&](Link link, double part) {
                        seconds[link.value] +=
                            part * static_cast<double>(message.bytes.value) / network.bandwidth(link).value;
                    });
                });
            }
        }
        sum += std::ranges::max(seconds);
    }
    return sum;
}

constexpr auto operations = {Operation::bcast,  Operation::reduce,    Operation::scatter,
                             Operation::gather, Operation::allgather, Operation::allreduce};

}  // namespace

TEST_CASE("concurrent calls load a link with the sum of their messages") {
    Rng rng(1);
    for (const char* text : {"torus:4x4,bandwidth=10GB/s", "tree:4:4,bandwidth=10GB/s:20GB/s+node:2"}) {
        const Machine machine = make_machine(text);
        for (const Operation operation : operations) {
            const std::size_t ranks = 2 + rng.below(6), calls = 1 + rng.below(4);
            const std::vector<Slot> slots = random_slots(machine, ranks * calls, rng);
            const Call call{operation, ranks, Bytes{100'000}};
            testing::each_candidate(call, text, [&](const AnySchedule& schedule) {
                CHECK(cost(schedule, model, machine, slots).congestion ==
                      doctest::Approx(reference_congestion(schedule, machine, slots)));
            });
        }
    }
}

TEST_CASE("calls under separate switches take as long as one call") {
    const Machine machine = make_machine("tree:4:8,bandwidth=10GB/s:20GB/s");
    const ids<Slot> slot_ids(machine.slot_count());
    const std::vector<Slot> slots(slot_ids.begin(), slot_ids.end());
    for (const Operation operation : operations) {
        const Call call{operation, 8, Bytes{1 << 20}};
        testing::each_candidate(call, "tree", [&](const AnySchedule& schedule) {
            const std::vector<Slot> one(slots.begin(), slots.begin() + 8);
            CHECK(cost(schedule, model, machine, slots).time ==
                  doctest::Approx(cost(schedule, model, machine, one).time));
            CHECK(run_cost(schedule, model, machine, slots).time ==
                  doctest::Approx(run_cost(schedule, model, machine, one).time));
        });
    }
}

TEST_CASE("the cost estimated from a sample of the messages of many calls is near that of all messages") {
    const Machine machine = make_machine("torus:8x8,bandwidth=10GB/s+node:4");
    Rng rng(2);
    const std::vector<Slot> slots = random_slots(machine, 256, rng);
    for (const Operation operation : operations) {
        const Call call{operation, 32, Bytes{1 << 20}};
        testing::each_candidate(call, "torus", [&](const AnySchedule& schedule) {
            CHECK(sampled_cost(schedule, model, machine, slots, 6000).time ==
                  doctest::Approx(cost(schedule, model, machine, slots).time).epsilon(0.3));
        });
    }
}

TEST_CASE("a number of slots that is not a multiple of the ranks per call is refused") {
    const Machine machine = make_machine("torus:4x4,bandwidth=10GB/s");
    const AnySchedule schedule = make_schedule({Operation::bcast, 4, Bytes{100}}, "binomial");
    CHECK_THROWS_WITH((void)cost(schedule, model, machine, std::vector<Slot>(6, Slot{0})),
                      "there are 6 slots for a schedule of 4 ranks");
}
