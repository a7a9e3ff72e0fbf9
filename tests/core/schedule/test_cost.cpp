// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include <cmath>
#include <memory>
#include <tuple>
#include <vector>

#include "schedule/first_ids.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/metric/judge.hpp"
#include "topoloom/metric/loads/objective_loads.hpp"
#include "topoloom/schedule/collectives/registry.hpp"
#include "topoloom/schedule/collectives/schedule_graph.hpp"
#include "topoloom/schedule/cost/cost.hpp"

using namespace topoloom;
using testing::first_slots;

namespace {

constexpr double alpha = 2e-6, beta = 1e-9, gamma_s = 3e-10;

NetworkModel hockney_model() {
    MessageCosts costs;
    costs.gamma = gamma_s;
    return NetworkModel::regimes({{alpha, beta}}, costs);
}

double schedule_time(Operation operation, std::size_t ranks, std::int64_t bytes, const char* name) {
    return cost(make_schedule({operation, ranks, Bytes{bytes}}, name), hockney_model()).time;
}

}  // namespace

TEST_CASE("costs equal the formulas in the documented table of schedules") {
    for (const std::int64_t bytes : {0, 1, 76, 4096, 1 << 20}) {
        const auto m = static_cast<double>(bytes);
        for (const std::size_t ranks : {2U, 4U, 8U, 64U, 1024U}) {
            const auto p = static_cast<double>(ranks);
            const double log = std::log2(p);
            const auto is = [](double seconds) { return doctest::Approx(seconds).epsilon(1e-12); };
            using enum Operation;
            CHECK(schedule_time(bcast, ranks, bytes, "binomial") == is(log * (alpha + m * beta)));
            CHECK(schedule_time(scatter, ranks, bytes, "binomial") == is(log * alpha + (p - 1) * m * beta));
            CHECK(schedule_time(gather, ranks, bytes, "chain") == is((p - 1) * (alpha + m * beta)));
            CHECK(schedule_time(allgather, ranks, bytes, "ring") == is((p - 1) * (alpha + m * beta)));
            CHECK(schedule_time(allgather, ranks, bytes, "recursive-doubling") ==
                  is(log * alpha + (p - 1) * m * beta));
            CHECK(schedule_time(allgather, ranks, bytes, "bruck") == is(log * alpha + (p - 1) * m * beta));
            CHECK(schedule_time(allgather, ranks, bytes, "neighbor-exchange") ==
                  is(p / 2 * alpha + (p - 1) * m * beta));
            CHECK(schedule_time(allreduce, ranks, bytes, "recursive-doubling") ==
                  is(log * (alpha + m * beta)));
            CHECK(schedule_time(reduce_scatter, ranks, bytes, "halving") ==
                  is(log * alpha + (p - 1) * m * beta));
            CHECK(schedule_time(alltoall, ranks, bytes, "cyclic") == is((p - 1) * (alpha + m * beta)));
            CHECK(schedule_time(alltoall, ranks, bytes, "pairwise") == is((p - 1) * (alpha + m * beta)));
            CHECK(schedule_time(alltoall, ranks, bytes, "at-once") == is((p - 1) * (alpha + m * beta)));
            CHECK(schedule_time(alltoall, ranks, bytes, "bruck") ==
                  is(log * (alpha + p / 2 * m * (beta + gamma_s))));
        }
        CHECK(schedule_time(Operation::allreduce, 1024, 1024 * bytes, "ring") ==
              doctest::Approx(2 * 1023 * (alpha + m * beta)));
        CHECK(schedule_time(Operation::allreduce, 1024, 1024 * bytes, "halving") ==
              doctest::Approx(20 * alpha + 2 * 1023 * m * beta));
        CHECK(schedule_time(Operation::bcast, 10, 8192 * bytes, "chain(segment=4096)") ==
              doctest::Approx(bytes == 0 ? 9 * alpha : (8 + 2 * m) * (alpha + 4096 * beta)));
    }
    CHECK(schedule_time(Operation::reduce, 1024, 4096 * 1024, "scatter-allgather") ==
          doctest::Approx(1033 * alpha + 2 * 1023 * 4096 * beta));
    CHECK(schedule_time(Operation::barrier, 1000, 0, "dissemination") == doctest::Approx(10 * alpha));
}

TEST_CASE("every round that waits for the previous one adds a latency, and other rounds add none") {
    constexpr double way = 5e-6;
    MessageCosts costs;
    costs.gamma = gamma_s;
    costs.latency = way;
    const NetworkModel late = NetworkModel::regimes({{alpha, beta}}, costs);
    const Machine machine = make_machine("torus:4x4x4,bandwidth=2GB/s,latency=1us+node:1,bandwidth=5GB/s");
    const std::vector<Slot> slots = first_slots(64);
    using enum Operation;
    for (const auto& [operation, name, waits] : {std::tuple(allreduce, "recursive-doubling", 6),
                                                 {allgather, "ring", 63},
                                                 {alltoall, "pairwise", 63},
                                                 {alltoall, "at-once", 1},
                                                 {scatter, "chain", 63},
                                                 {bcast, "chain(segment=4096)", 63},
                                                 {reduce, "chain(segment=512)", 63}}) {
        CAPTURE(name);
        const AnySchedule schedule = make_schedule({operation, 64, Bytes{1 << 20}}, name);
        const auto adds = doctest::Approx(waits * way);
        CHECK(cost(schedule, late).time - cost(schedule, hockney_model()).time == adds);
        CHECK(cost(schedule, late, machine, slots).time -
                  cost(schedule, hockney_model(), machine, slots).time ==
              adds);
    }
}

TEST_CASE("with a placement, rounds of a schedule cost as much as the same messages as phases of a pattern") {
    Rng rng(3);
    for (const std::string network :
         {"torus:4x4x3,bandwidth=2GB/s,latency=1us", "fattree:4:4:4", "dragonfly:3x4,nodes=4"}) {
        CAPTURE(network);
        const Machine machine = make_machine(network + "+node:1,bandwidth=5GB/s,startup=1us");
        const std::size_t ranks = 41;
        std::vector<Slot> slots = first_slots(machine.slot_count());
        rng.shuffle(std::span(slots));
        slots.resize(ranks);
        for (const auto& [operation, name] : {std::pair(Operation::allgather, "ring"),
                                              {Operation::allgather, "bruck"},
                                              {Operation::allreduce, "halving"},
                                              {Operation::bcast, "binomial"},
                                              {Operation::alltoall, "cyclic"}}) {
            CAPTURE(name);
            const AnySchedule schedule = make_schedule({operation, ranks, Bytes{3000}}, name);
            const ScheduleCost found = cost(schedule, machine_model(machine), machine, slots);
            std::vector<CommGraph> phases;
            for (std::uint64_t round = 0; round < found.rounds; ++round)
                phases.push_back(phase(schedule, round));
            const auto value = [&](const char* text) {
                PhasedObjective objective{parse_objective(text), {}};
                for (const CommGraph& graph : phases) objective.phases.push_back(&graph);
                return objective_key(machine, objective, slots).congestion;
            };
            CHECK(found.time == doctest::Approx(value("time")));
            CHECK(found.congestion == doctest::Approx(value("congestion")));
        }
    }
}

TEST_CASE("the rounds of a schedule add up to its total traffic on every kind of network") {
    for (const std::string network : {"torus:6x6", "fattree:6:6,up=1:2", "dragonfly:3x4,nodes=3"}) {
        CAPTURE(network);
        const Machine machine = make_machine(network);
        const Allocation allocation = Allocation::whole(machine);
        const Placement placement(allocation, first_slots(36));
        for (const ScheduleEntry& entry : schedules()) {
            CAPTURE(entry.name);
            for (const Operation operation : entry.operations) {
                const Bytes bytes{operation == Operation::barrier ? 0 : 900};
                const bool many =
                    operation == Operation::many_to_many || operation == Operation::many_to_many_multicast;
                const auto demand = many ? std::make_shared<const Demand>(36, 5, bytes) : nullptr;
                const AnySchedule schedule =
                    make_schedule({operation, 36, bytes, Rank{0}, demand}, entry.name);
                const CommGraph graph = pattern(schedule);
                const Judgement judged = judge(graph, machine, placement);
                const ScheduleCost one = cost(schedule, hockney_model(), machine, placement.slots());
                Bytes in_rounds;
                double busiest_round = 0;
                for (std::uint64_t round = 0; round < one.rounds; ++round) {
                    const CommGraph together = phase(schedule, round);
                    in_rounds += together.total_bytes();
                    busiest_round =
                        std::max(busiest_round, judge(together, machine, placement).congestion_max);
                }
                CHECK(in_rounds == graph.total_bytes());
                CHECK(judged.congestion_max >= busiest_round * (1 - 1e-12));
                CHECK(judged.congestion_max <= one.congestion * (1 + 1e-12));
                CHECK(one.time >= cost(schedule, hockney_model()).time * (1 - 1e-12));
            }
        }
    }
}
