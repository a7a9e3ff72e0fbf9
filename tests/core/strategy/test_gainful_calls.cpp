// SPDX-License-Identifier: BSD-3-Clause
// Which calls save more time by their schedule than it costs, compared with the assumed choice of MPI
// libraries.
#include <doctest.h>

#include <bit>
#include <string>
#include <utility>

#include "strategy/single_call_operations.hpp"
#include "topoloom/strategy/schedule_times.hpp"
#include "topoloom/strategy/strategy.hpp"
#include "topoloom/strategy/usual_schedule.hpp"

using namespace topoloom;

namespace {

using enum Operation;

Setting on_torus_nodes(std::size_t ranks, std::int64_t per_node) {
    Setting setting;
    setting.ranks = ranks;
    setting.machine = "machine torus:4x4x4,bandwidth=10GB/s\nmessage - 1e-6 1e-10\n";
    for (std::size_t rank = 0; rank < ranks; ++rank)
        setting.locations.push_back(static_cast<std::int64_t>(rank) / per_node);
    return setting;
}

Bytes make_call(Operation operation, std::int64_t bytes) { return Bytes{operation == barrier ? 0 : bytes}; }

ScheduleCost cost_of(const Setting& setting, const Call& call, const std::string& schedule) {
    return schedule_cost(make_schedule(call, schedule), find_cost_basis(setting));
}

}  // namespace

TEST_CASE("on one node no call saves time, except with a schedule that the user names") {
    Setting setting = on_torus_nodes(16, 16);
    Strategy strategy(setting);
    CHECK(!strategy.can_save_time());
    setting.schedule = "ring";
    Strategy with_schedule(setting);
    CHECK(with_schedule.can_save_time());
    for (const Operation operation : single_call_operations) {
        for (const std::int64_t bytes : {8, 4096, 1 << 20}) {
            CAPTURE(operation_name(operation));
            CHECK(!strategy.saves_time(operation, make_call(operation, bytes), false, 0));
            const bool by_ring =
                with_schedule.choose(operation, make_call(operation, bytes), false) == "ring";
            CHECK(with_schedule.saves_time(operation, make_call(operation, bytes), false, 1) == by_ring);
        }
    }
}

TEST_CASE("predicted times are those that are compared, and unknown on one node") {
    for (const std::int64_t per_node : {1, 4, 16}) {
        const Setting setting = on_torus_nodes(16, per_node);
        Strategy strategy(setting);
        for (const Operation operation : single_call_operations) {
            CAPTURE(operation_name(operation));
            const Bytes bytes = make_call(operation, 4096);
            const auto times = strategy.predict(operation, bytes, false);
            CHECK(times.has_value() == (per_node < 16));
            if (!times) continue;
            const Call call{operation, 16, bytes};
            CHECK(times->ours.time == cost_of(setting, call, strategy.choose(operation, bytes, false)).time);
            CHECK(*times->usual == cost_of(setting, call, usual_schedule(call)).time);
            CHECK(strategy.saves_time(operation, bytes, false, 0) ==
                  (*times->usual > times->ours.time + 0.2e-6));
        }
    }
}

TEST_CASE("a decision in a table is applied, and cases without a decision are treated as without a table") {
    Setting setting = on_torus_nodes(16, 16);
    setting.decisions =
        R"({"format": "topoloom-decisions", "version": 1, "operation": "alltoall", "model": "", "machine": "",
            "decisions": [{"ranks": 16, "bytes": 100, "schedule": "cyclic"}]})";
    Strategy strategy(setting);
    CHECK(strategy.can_save_time());
    CHECK(!strategy.saves_time(alltoall, Bytes{99}, false, 0));
    CHECK(strategy.saves_time(alltoall, Bytes{100}, false, 1));
    CHECK(!strategy.saves_time(allgather, Bytes{100}, false, 0));
}

TEST_CASE(
    "an inter-node call gains if it saves more than its overhead and late progress of its rounds cost") {
    constexpr double run_by_us = 0.2e-6;
    for (const auto& [ranks, per_node] : {std::pair(64, 1), {48, 1}, {48, 3}, {9, 3}}) {
        const Setting setting = on_torus_nodes(static_cast<std::size_t>(ranks), per_node);
        Strategy strategy(setting);
        int helped = 0, helped_in_spite_of_delay = 0;
        for (const Operation operation : single_call_operations) {
            for (std::int64_t bytes = 1; bytes <= 1 << 20; bytes *= 4) {
                CAPTURE(operation_name(operation));
                CAPTURE(bytes);
                const Call call{operation, setting.ranks, make_call(operation, bytes)};
                const ScheduleCost ours =
                    cost_of(setting, call, strategy.choose(operation, call.bytes, false));
                const double saved = cost_of(setting, call, usual_schedule(call)).time - ours.time;
                for (const double delay : {0.0, 20e-6}) {
                    const bool helps = strategy.saves_time(operation, call.bytes, false, delay);
                    CHECK(helps == (saved > run_by_us + static_cast<double>(ours.rounds) * delay));
                    helped += helps ? 1 : 0;
                    helped_in_spite_of_delay += helps && delay > 0 ? 1 : 0;
                }
            }
        }
        CHECK(helped_in_spite_of_delay > 0);
        CHECK(helped > 2 * helped_in_spite_of_delay);
    }
}

TEST_CASE("the assumed choice of MPICH changes at its thresholds") {
    CHECK(usual_schedule({bcast, 16, Bytes{12287}}) == "binomial");
    CHECK(usual_schedule({bcast, 16, Bytes{12288}}) == "scatter-allgather(gather=doubling,cut=rounded-up)");
    CHECK(usual_schedule({bcast, 7, Bytes{1 << 20}}) == "binomial");
    CHECK(usual_schedule({allreduce, 16, Bytes{2049}}) == "halving(fold=even,order=near,cut=last)");
    CHECK(usual_schedule({allgather, 16, Bytes{32767}}) == "recursive-doubling");
    CHECK(usual_schedule({allgather, 16, Bytes{32768}}) == "ring");
    CHECK(usual_schedule({alltoall, 8, Bytes{256}}) == "bruck");
    CHECK(usual_schedule({alltoall, 8, Bytes{257}}) == "at-once");
    CHECK(usual_schedule({alltoall, 8, Bytes{32769}}) == "pairwise");
    for (const Operation operation : single_call_operations) {
        for (const std::size_t ranks : {1, 2, 3, 7, 8, 60, 64}) {
            for (const std::int64_t bytes : {1, 300, 3000, 100'000}) {
                const Call call{operation, ranks, make_call(operation, bytes)};
                CHECK_NOTHROW((void)make_schedule(call, usual_schedule(call)));
            }
        }
    }
}
