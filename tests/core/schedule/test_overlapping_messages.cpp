// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/schedule/cost/message_times.hpp"

#include <doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/schedule/collectives/registry.hpp"
#include "topoloom/schedule/cost/cost.hpp"
#include "topoloom/strategy/candidates.hpp"

using namespace topoloom;

namespace {

using enum Operation;

/// The default setup of SMPI: a message takes 1 us at each end, and its bytes take time only on links.
NetworkModel link_limited_model() {
    return NetworkModel::regimes({{1e-6, 0}}, {.latency = 1e-6, .send_cpu = 1e-6, .receive_cpu = 1e-6});
}

/// Every route has two links, with a total latency of 2 us.
double time_on_switch(Operation operation, std::size_t ranks, std::int64_t bytes, const char* name,
                      const NetworkModel& model = link_limited_model()) {
    const Machine machine = make_machine("tree:16,bandwidth=1GB/s,latency=1us");
    const ids<Slot> slots(ranks);
    return cost(make_schedule({operation, ranks, Bytes{bytes}}, name), model, machine,
                std::vector<Slot>(slots.begin(), slots.end()))
        .time;
}

auto is(double seconds) { return doctest::Approx(seconds).epsilon(1e-12); }

struct ArrivingMessage {
    double at, overhead, work;
};

/// Reference for Arrivals: processes the messages one by one in order of arrival.
double process_one_by_one(std::vector<ArrivingMessage> messages) {
    std::ranges::sort(messages, {}, [](const ArrivingMessage& one) { return one.at - one.overhead; });
    double now = -1;
    for (const auto& [at, overhead, work] : messages) now = std::max(now, at - overhead) + overhead + work;
    return now;
}

}  // namespace

TEST_CASE("messages of a rank leave one after the other, each after the CPU has started it") {
    for (const auto& [overhead, turn] : {std::pair(0.0, 3.0), {1.0, 3.0}, {3.0, 3.0}, {5.0, 3.0}}) {
        Departures sent;
        for (int k = 1; k < 9; ++k) {
            const double arrived = sent.add(overhead, turn);
            CHECK(arrived == std::max(k * turn, (k - 1) * overhead + turn));
            CHECK(sent.left == arrived);
        }
    }
    Departures wired;
    CHECK(wired.add(1, 2, 7) == 7);
    CHECK(wired.add(1, 2, 7) == 8);  // on another wire
    CHECK(wired.left == 4);
}

TEST_CASE(
    "the end time of messages that arrive at equal intervals is exact, and that of others is no later") {
    Rng rng(5);
    for (int trial = 0; trial < 1000; ++trial) {
        const double distance = trial % 2 == 0 ? 0.3 * rng.below(9) : -1;
        std::vector<ArrivingMessage> messages;
        Arrivals arrivals;
        for (std::uint32_t k = 0; k <= rng.below(20); ++k) {
            const double at = distance < 0 ? 2 + 9 * rng.uniform() : 2 + k * distance;
            messages.push_back({at, 1, 0.5});
            arrivals.add(at, 1, 0.5);
        }
        const double exact = process_one_by_one(messages);
        if (distance >= 0) CHECK(arrivals.end_time() == is(exact));
        CHECK(arrivals.end_time() <= exact * (1 + 1e-12));
        CHECK(arrivals.end_time() >= arrivals.last);
    }
    CHECK(Arrivals{}.end_time() == 0);
}

TEST_CASE("a round of several messages takes as long as the busiest of CPU, wire and port") {
    // One message: o_s + L + b / bandwidth + o_r.
    CHECK(time_on_switch(bcast, 2, 500, "binomial") == is(1e-6 + 2e-6 + 0.5e-6 + 1e-6));
    // Every rank sends one message to each of 3 others: 3 o_s + L + wire + o_r. With 8 times the bytes it is
    // o_s + L + port + o_r.
    CHECK(time_on_switch(alltoall, 4, 500, "at-once") == is(3e-6 + 2e-6 + 0.5e-6 + 1e-6));
    CHECK(time_on_switch(alltoall, 4, 4000, "at-once") == is(1e-6 + 2e-6 + 12e-6 + 1e-6));
    // With 8 messages sent and received by each rank: 8 o_s + 8 o_r.
    CHECK(time_on_switch(alltoall, 9, 500, "at-once") == is(16e-6));
    // 3 concurrent messages to a root: o_s + L + wire + 3 o_r, because the root processes them in sequence.
    CHECK(time_on_switch(gather, 4, 500, "linear") == is(1e-6 + 2e-6 + 0.5e-6 + 3e-6));
}

TEST_CASE("an exchange takes LogGP's L + 2 o + (b - 1) G, whether the gap or the overhead is longer") {
    constexpr double latency = 5e-6, overhead = 2e-6, byte_gap = 1e-9;
    for (const double gap : {1e-6, 3e-6, 4e-6, 7e-6}) {
        const NetworkModel model = NetworkModel::loggp(latency, overhead, gap, byte_gap);
        for (const std::int64_t bytes : {1, 100, 10000}) {
            const double alone = latency + 2 * overhead + static_cast<double>(bytes - 1) * byte_gap;
            CHECK(cost(make_schedule({allreduce, 8, Bytes{bytes}}, "recursive-doubling"), model).time ==
                  is(3 * alone));
        }
    }
}

TEST_CASE("latency and bandwidth of links depend on the message size") {
    const NetworkModel model = link_limited_model().with_link_factors({{3, 0.5, 100}, {1.5, 0.8}});
    CHECK(time_on_switch(bcast, 2, 100, "binomial", model) == is(2e-6 + 3 * 2e-6 + 0.1e-6 / 0.5));
    CHECK(time_on_switch(bcast, 2, 101, "binomial", model) == is(2e-6 + 1.5 * 2e-6 + 0.101e-6 / 0.8));
    CHECK(time_on_switch(alltoall, 4, 4000, "at-once", model) == is(2e-6 + 1.5 * 2e-6 + 12e-6 / 0.8));
    const NetworkModel same = link_limited_model().with_link_factors({{}});
    CHECK(time_on_switch(alltoall, 4, 4000, "at-once", same) == time_on_switch(alltoall, 4, 4000, "at-once"));
}

TEST_CASE("a round includes the latency of its message, for any size") {
    const NetworkModel model =
        NetworkModel::regimes({{1e-6, 1e-9}}).with_single_message_lines({{3e-6, 1e-9, 100}, {9e-6, 1e-9}});
    for (const auto& [bytes, alone] : {std::pair{100, 3.1e-6}, {101, 9.101e-6}}) {
        const Call call{Operation::bcast, 2, Bytes{bytes}};
        CHECK(cost(make_schedule(call, "binomial"), model).time == is(alone));
        CHECK(time_on_switch(bcast, 2, bytes, "binomial", model) == is(alone + 2e-6));
        const Machine machine = make_machine("tree:2,bandwidth=1GB/s,latency=1us");
        const std::vector<Slot> slots{Slot{0U}, Slot{1U}};
        CHECK(run_cost(make_schedule(call, "binomial"), model, machine, slots).time == is(alone + 2e-6));
        const Machine node = make_machine("tree:1,bandwidth=1GB/s+node:2");
        CHECK(run_cost(make_schedule(call, "binomial"), link_limited_model().with_intra_node_model(model),
                       node, slots)
                  .time == is(alone));
    }
}

TEST_CASE("a reduction costs time per received byte, a copy none") {
    MessageCosts costs;
    costs.reduce = 2e-9;
    const NetworkModel model = NetworkModel::regimes({{1e-6, 1e-9}}, costs);
    const auto seconds = [&](Operation operation, const char* name) {
        return cost(make_schedule({operation, 8, Bytes{8000}}, name), model).time;
    };
    CHECK(seconds(allreduce, "recursive-doubling") == is(3 * (1e-6 + 8e-6 + 16e-6)));
    CHECK(seconds(reduce, "binomial") == is(3 * (1e-6 + 8e-6 + 16e-6)));
    CHECK(seconds(bcast, "binomial") == is(3 * (1e-6 + 8e-6)));
    // Halves, quarters and eighths of the data are reduced, and then gathered.
    CHECK(seconds(allreduce, "halving") == is(6e-6 + 14e-6 + 14e-6));
}

TEST_CASE(
    "more bytes, overhead or latency never make a schedule faster, and no part exceeds the total time") {
    Rng rng(11);
    const Machine machine = make_machine("torus:4x4,bandwidth=2GB/s,latency=0.5us");
    const ids<Slot> slot_ids(16);
    const std::vector<Slot> slots(slot_ids.begin(), slot_ids.end());
    for (const Operation operation : {bcast, reduce, allgather, allreduce, reduce_scatter, alltoall}) {
        for (const std::string& name : candidates({operation, 16, Bytes{1000}})) {
            CAPTURE(operation_name(operation));
            CAPTURE(name);
            MessageCosts costs;
            costs.latency = 2e-6 * rng.uniform();
            costs.send_cpu = 1e-6 * rng.uniform(), costs.receive_cpu = 1e-6 * rng.uniform();
            const CostLine line{2e-6 * rng.uniform(), 1e-9 * rng.uniform()};
            const auto found = [&](std::int64_t bytes, const MessageCosts& with) {
                return cost(make_schedule({operation, 16, Bytes{bytes}}, name),
                            NetworkModel::regimes({line}, with), machine, slots);
            };
            const ScheduleCost one = found(1000, costs);
            CHECK(one.time >= one.cpu);
            CHECK(one.time >= one.congestion);
            CHECK(one.time >= found(1000, {}).time);
            for (double MessageCosts::* part :
                 {&MessageCosts::latency, &MessageCosts::send_cpu, &MessageCosts::receive_cpu,
                  &MessageCosts::receive_cpu_per_byte, &MessageCosts::reduce}) {
                MessageCosts more = costs;
                more.*part += 1e-9;
                CHECK(found(1000, more).time >= one.time);
            }
            const AnySchedule schedule = make_schedule({operation, 16, Bytes{1000}}, name);
            CHECK(one.time >= cost(schedule, NetworkModel::regimes({line}, costs)).time * (1 - 1e-12));
            // More bytes can give a chain more segments, which overlap more.
            if (name.starts_with("chain")) continue;
            CHECK(found(3000, costs).time >= one.time);
        }
    }
}
