// SPDX-License-Identifier: BSD-3-Clause
// Ranks that wait only for their own messages are never later than with a barrier per round.
#include <doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "schedule/each_candidate.hpp"
#include "schedule/first_ids.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/schedule/cost/cost.hpp"
#include "topoloom/schedule/cost/messages.hpp"

using namespace topoloom;
using testing::first_slots;

namespace {

std::vector<Slot> permuted_slots(const Machine& machine, std::size_t count, Rng& rng) {
    const ids<Slot> slot_ids(machine.slot_count());
    std::vector<Slot> slots(slot_ids.begin(), slot_ids.end());
    for (std::size_t i = slots.size(); i > 1; --i)
        std::swap(slots[i - 1], slots[rng.below(static_cast<std::uint32_t>(i))]);
    slots.resize(count);
    return slots;
}

bool is_pipelined(const AnySchedule& schedule) {
    for (std::uint64_t round = 0; round < schedule.rounds(); ++round)
        if (is_pipelined(schedule, round)) return true;
    return false;
}

/// Seconds for which all messages together occupy the busiest link.
double busiest_link_seconds(const AnySchedule& schedule, const Machine& machine,
                            const std::vector<Slot>& slots) {
    std::vector<double> seconds(machine.link_count());
    std::vector<SentMessage> messages;
    const std::uint64_t rounds = schedule.rounds();
    for (std::uint64_t round = 0; round < rounds; ++round) {
        list_messages(schedule, round, messages);
        for (const auto& [from, to, bytes] : messages) {
            with_topology(machine, [&](const auto& network) {
                network.route(machine.node(slots[from.value]), machine.node(slots[to.value]),
                              [&](Link link, double part) {
                                  seconds[link.value] +=
                                      part * static_cast<double>(bytes.value) / network.bandwidth(link).value;
                              });
            });
        }
    }
    return std::ranges::max(seconds);
}

constexpr auto run_operations = {Operation::reduce, Operation::allgather, Operation::allreduce,
                                 Operation::reduce_scatter, Operation::alltoall};

/// With CPU time, run_cost() may exceed cost(), which ignores the order of CPU and link time.
const NetworkModel& model_without_cpu() {
    static const NetworkModel model = NetworkModel::regimes({{1e-6, 1e-10}}, {.latency = 1e-6});
    return model;
}

}  // namespace

TEST_CASE("a run takes at most the sum of its rounds") {
    Rng rng(3);
    for (const char* text :
         {"torus:4x4x4,bandwidth=10GB/s,latency=500ns", "mesh:9x5,bandwidth=1GB/s,latency=100ns",
          "tree:8:8,bandwidth=10GB/s:20GB/s,latency=300ns", "torus:8x8,bandwidth=10GB/s"}) {
        const Machine machine = make_machine(text);
        for (const std::size_t ranks : {2, 7, 16, 33}) {
            const std::vector<Slot> slots = permuted_slots(machine, ranks, rng);
            for (const Operation operation : run_operations) {
                for (const std::int64_t bytes : {0, 8, 40000}) {
                    const Call call{operation, ranks, Bytes{bytes}};
                    testing::each_candidate(call, text, [&](const AnySchedule& schedule) {
                        if (is_pipelined(schedule)) return;  // in cost(), rounds of pipelines have no latency
                        const double rounds = cost(schedule, model_without_cpu(), machine, slots).time;
                        const double run = run_cost(schedule, model_without_cpu(), machine, slots).time;
                        CHECK(run <= rounds * (1 + 1e-12));
                    });
                }
            }
        }
    }
}

TEST_CASE("with equal distances and sizes a run takes the sum of its rounds") {
    const Machine machine = make_machine("tree:16,bandwidth=10GB/s,latency=1us");
    for (const char* name : {"bruck", "cyclic", "pairwise", "at-once", "mesh"}) {
        CAPTURE(name);
        const AnySchedule schedule = make_schedule({Operation::alltoall, 16, Bytes{1000}}, name);
        CHECK(run_cost(schedule, model_without_cpu(), machine, first_slots(16)).time ==
              doctest::Approx(cost(schedule, model_without_cpu(), machine, first_slots(16)).time));
    }
}

TEST_CASE("a program of one step takes as long as a run, and ranks start the next step without a barrier") {
    const Machine machine = make_machine("tree:4:4,bandwidth=10GB/s,latency=100ns:5us");
    const std::vector<Slot> slots = first_slots(16);
    const AnySchedule near = make_schedule({Operation::allgather, 16, Bytes{100}}, "ring");
    const AnySchedule tree = make_schedule({Operation::bcast, 16, Bytes{100}}, "binomial");
    const auto seconds = [&](const std::vector<const AnySchedule*>& steps) {
        return program_time(steps, model_without_cpu(), machine, slots);
    };
    const double of_near = run_cost(near, model_without_cpu(), machine, slots).time;
    const double of_tree = run_cost(tree, model_without_cpu(), machine, slots).time;
    CHECK(seconds({}) == 0);
    CHECK(seconds({&near}) == doctest::Approx(of_near));
    CHECK(seconds({&tree, &near}) <= of_tree + of_near + 1e-15);
    CHECK(seconds({&tree, &tree}) < 2 * of_tree);  // the root does not wait for the leaves
    const AnySchedule other = make_schedule({Operation::bcast, 8, Bytes{100}}, "binomial");
    CHECK_THROWS_WITH(seconds({&near, &other}),
                      "a step of a program has 8 ranks; ranks of the first step: 16");
}

TEST_CASE("messages in two directions use both links fully, unless the port is as narrow as one link") {
    const std::vector<Slot> slots{Slot{1}, Slot{0}, Slot{2}};  // the root is in the middle
    const NetworkModel model = NetworkModel::regimes({{1e-6, 1e-9}}).with_link_factors({{}});
    const AnySchedule scatter = make_schedule({Operation::scatter, 3, Bytes{1000000}}, "linear");
    const auto seconds = [&](const char* text) {
        return run_cost(scatter, model, make_machine(text), slots).time;
    };
    CHECK(seconds("mesh:3,bandwidth=1GB/s") == doctest::Approx(1e-3).epsilon(0.01));
    CHECK(seconds("mesh:3,bandwidth=1GB/s+node:1,bandwidth=1GB/s") == doctest::Approx(2e-3).epsilon(0.01));
}

TEST_CASE("the latency of a distant message delays only its receiver") {
    // Rank 0 sends over one link to rank 2, which sends over one link to rank 3; then rank 0 sends over four
    // links to rank 1.
    const Machine machine = make_machine("mesh:5,bandwidth=1GB/s,latency=1us");
    const std::vector<Slot> slots{Slot{0}, Slot{4}, Slot{1}, Slot{2}};
    const NetworkModel model = NetworkModel::regimes({{0.5e-6, 0}});
    const AnySchedule tree = make_schedule({Operation::bcast, 4, Bytes{0}}, "binomial");
    const double start = 0.5e-6, link = 1e-6;
    CHECK(cost(tree, model, machine, slots).time == doctest::Approx(start + link + start + 4 * link));
    CHECK(run_cost(tree, model, machine, slots).time == doctest::Approx(start + start + 4 * link));
}

TEST_CASE("a message takes as long as the traffic on its busiest link") {
    const Machine machine = make_machine("mesh:6,bandwidth=1GB/s,latency=0ns");
    const std::vector<Slot> slots{Slot{0}, Slot{2}, Slot{1}, Slot{3}};
    const NetworkModel model = NetworkModel::regimes({{0, 0}});
    // First ranks 0 and 1 exchange over two links, and so do 2 and 3; one link is shared. Then 0 and 2
    // exchange twice as much over one link, and so do 1 and 3.
    const AnySchedule pairs = make_schedule({Operation::allgather, 4, Bytes{1000}}, "recursive-doubling");
    CHECK(run_cost(pairs, model, machine, slots).time == doctest::Approx(2e-6 + 2e-6));
}

TEST_CASE("a segment of a chain leaves when it has arrived") {
    // Three segments go over two links. A rank receives one segment while it sends the previous one.
    const Machine machine = make_machine("mesh:3,bandwidth=1GB/s,latency=1us");
    const NetworkModel model = NetworkModel::regimes({{0.5e-6, 0}});
    const AnySchedule chain = make_schedule({Operation::bcast, 3, Bytes{3000}}, "chain(segment=1000)");
    const double hop = 1e-6 + 0.5e-6 + 1e-6;
    CHECK(run_cost(chain, model, machine, first_slots(3)).time <= 4 * hop + 1e-15);
    CHECK(run_cost(chain, model, machine, first_slots(3)).time >= 2 * hop);
}

TEST_CASE("messages that a rank sends in several rounds share its link") {
    // The root sends to ranks 2 and 1 in sequence without waiting.
    const Machine machine = make_machine("tree:4,bandwidth=1GB/s,latency=0ns");
    const NetworkModel model = NetworkModel::regimes({{0, 0}});
    const AnySchedule tree = make_schedule({Operation::bcast, 4, Bytes{1000}}, "binomial");
    CHECK(run_cost(tree, model, machine, first_slots(4)).time == doctest::Approx(2e-6));
    const AnySchedule all = make_schedule({Operation::scatter, 4, Bytes{1000}}, "linear");
    CHECK(run_cost(all, model, machine, first_slots(4)).time == doctest::Approx(3e-6));
}

TEST_CASE("a run takes at least as long as it occupies the busiest link") {
    Rng rng(5);
    for (const char* text : {"torus:4x4x4,bandwidth=10GB/s,latency=100ns", "fattree:4:4:1,bandwidth=5GB/s",
                             "tree:4:8,bandwidth=10GB/s:20GB/s+node:4"}) {
        const Machine machine = make_machine(text);
        for (const Operation operation : run_operations) {
            const std::size_t ranks = 2 + rng.below(15);
            const std::vector<Slot> slots = permuted_slots(machine, ranks, rng);
            const Call call{operation, ranks, Bytes{100'000}};
            testing::each_candidate(call, text, [&](const AnySchedule& schedule) {
                CHECK(run_cost(schedule, model_without_cpu(), machine, slots).time >=
                      busiest_link_seconds(schedule, machine, slots) * (1 - 1e-12));
            });
        }
    }
}

TEST_CASE("intra-node messages use the memory of the node") {
    const NetworkModel model = NetworkModel::regimes({{5e-6, 0}});
    const AnySchedule pair = make_schedule({Operation::bcast, 2, Bytes{10'000}}, "binomial");
    const auto time_on = [&](const char* text) {
        return run_cost(pair, model, make_machine(text), first_slots(2)).time;
    };
    CHECK(time_on("tree:2,bandwidth=1GB/s+node:2,memory-startup=2us") == doctest::Approx(2e-6 + 1e-6));
    CHECK(time_on("tree:2,bandwidth=1GB/s+node:2,memory-startup=2us,memory=1GB/s") ==
          doctest::Approx(2e-6 + 10e-6));
    // Four concurrent pairs read the same memory.
    const Machine machine = make_machine("tree:2,bandwidth=1GB/s+node:8,memory-startup=2us,memory=1GB/s");
    CHECK(run_cost(pair, model, machine, first_slots(8)).time == doctest::Approx(40e-6));
}

TEST_CASE("a few rounds of segmented data predict the time of all rounds") {
    const Machine machine = make_machine("tree:8,bandwidth=10GB/s,latency=1us+node:4");
    const NetworkModel model =
        NetworkModel::regimes({{1e-6, 0}}, {.latency = 1e-6, .send_cpu = 1e-6, .receive_cpu = 1e-6});
    Rng rng(6);
    const std::vector<Slot> slots = permuted_slots(machine, 32, rng);
    for (const char* name :
         {"chain(segment=4096)", "two-trees(segment=4096)", "disjoint-trees(segment=4096)"}) {
        CAPTURE(name);
        const AnySchedule schedule = make_schedule({Operation::bcast, 8, Bytes{4 << 20}}, name);
        const ScheduleCost all = run_cost(schedule, model, machine, slots);
        const ScheduleCost some = stream_cost(schedule, model, machine, slots, 64);
        CHECK(some.time == doctest::Approx(all.time).epsilon(0.05));
        CHECK(some.cpu == doctest::Approx(all.cpu).epsilon(0.05));
        CHECK(some.congestion == doctest::Approx(all.congestion).epsilon(0.05));
        CHECK(stream_cost(schedule, model, machine, slots, 1 << 20).time == all.time);
    }
}
