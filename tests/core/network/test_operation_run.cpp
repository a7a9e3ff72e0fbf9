// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "network/random_program.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/network/programs/goal_text.hpp"
#include "topoloom/network/programs/operation_run.hpp"
#include "topoloom/network/programs/program_run.hpp"
#include "topoloom/network/programs/run_to_end.hpp"
#include "topoloom/network/programs/schedule_program.hpp"
#include "topoloom/schedule/collectives/registry.hpp"

using namespace topoloom;
using testing::alone, testing::ranks_in_order;

namespace {

enum class SwitchKind { input_queued, crosspoint };

struct RunSettings {
    PacketFormat format{};
    MessageCycles costs{};
    SwitchOptions options{};
    SwitchKind switches = SwitchKind::input_queued;
    int threads = 1;
    double nanosecond = 1;
};

std::unique_ptr<PacketNetwork> make_network(const testing::WiredMachine& wired, FiniteWorkload& senders,
                                            const RunSettings& settings) {
    if (settings.switches == SwitchKind::crosspoint)
        return make_crosspoint_network(wired.fabric, wired.paths, senders, settings.options, 1);
    return make_input_queued_network(wired.fabric, wired.paths, senders, settings.options, 1,
                                     settings.threads);
}

/// Finish cycle by rank.
template <class Run>
std::vector<std::uint64_t> finish(const testing::WiredMachine& wired, Run& ranks,
                                  const RunSettings& settings) {
    const auto network = make_network(wired, ranks, settings);
    Meter meter{Budget{}};
    const std::uint64_t end = run_to_end(*network, ranks, meter);
    network->run(100);
    network->check();
    std::vector<std::uint64_t> finish;
    for (const Rank rank : ids<Rank>(ranks.rank_count())) finish.push_back(ranks.finish(rank));
    CHECK(end == (finish.empty() ? 0 : std::ranges::max(finish)));
    CHECK(ranks.steps_done() == ranks.steps());
    return finish;
}

std::vector<std::uint64_t> run_operations(const testing::WiredMachine& wired, const OperationGraph& graph,
                                          const std::vector<Node>& nodes, const RunSettings& settings = {}) {
    OperationRun ranks(graph, nodes, wired.machine.node_count(), settings.format, settings.costs,
                       settings.nanosecond);
    return finish(wired, ranks, settings);
}

/// Converts a program to operations. Operations of a step wait for all operations of the rank's previous
/// step.
OperationGraph convert_to_operations(const Program& program) {
    std::vector<RankOperation> operations;
    std::vector<Dependence> order;
    std::vector<ProgramMessage> messages;
    const auto add = [&](RankOperation::Kind kind, Rank rank, std::uint32_t step) {
        for (const ProgramMessage& message : messages)
            operations.push_back({.kind = kind,
                                  .rank = rank,
                                  .peer = message.peer,
                                  .tag = step,
                                  .size = static_cast<std::uint64_t>(message.bytes.value)});
        messages.clear();
    };
    for (const Rank rank : ids<Rank>(program.rank_count())) {
        std::vector<OperationId> before;
        for (std::uint32_t step = 0; step < program.step_count(); ++step) {
            const std::size_t first = operations.size();
            program.list_receives(rank, step, messages);
            add(RankOperation::Kind::receive, rank, step);
            program.list_sends(rank, step, messages);
            add(RankOperation::Kind::send, rank, step);
            if (operations.size() == first) continue;
            std::vector<OperationId> own;
            for (std::size_t i = first; i < operations.size(); ++i) {
                own.push_back(OperationId{i});
                for (const OperationId one : before) order.push_back({own.back(), one});
            }
            before = std::move(own);
        }
    }
    return {program.rank_count(), std::move(operations), order};
}

/// The largest number of messages that a rank sends in one step.
std::size_t max_messages_per_step(const Program& program) {
    std::size_t most = 0;
    std::vector<ProgramMessage> messages;
    for (const Rank rank : ids<Rank>(program.rank_count()))
        for (std::uint64_t step = 0; step < program.step_count(); ++step) {
            messages.clear();
            program.list_sends(rank, step, messages);
            most = std::max(most, messages.size());
        }
    return most;
}

}  // namespace

TEST_CASE("as rounds and as operations, a schedule ends in the same cycles, in both kinds of switches") {
    Rng rng(5);
    const auto machines = testing::small_machines();
    for (int drawn = 0; drawn < 100; ++drawn) {
        const testing::WiredMachine& wired =
            *machines[rng.below(static_cast<std::uint32_t>(machines.size()))];
        const testing::RandomProgram it(wired, rng);
        const std::vector<Node>& nodes = it.nodes;
        const AnySchedule schedule = make_schedule(it.call, it.name);
        const ScheduleProgram program(schedule);
        RunSettings settings;
        settings.format = {
            .flit = 16 + rng.below(50), .payload = 1 + rng.below(300), .header = rng.below(30)};
        settings.costs = {.send = rng.below(300), .memory = rng.below(10)};
        // Rounds give their messages to the NIC gradually, operations all at once. With more messages than
        // the NIC can have open, the send overhead would occupy ranks at different times, so it is set to 0.
        if (max_messages_per_step(program) > NicQueues::max_open_messages) settings.costs.send = 0;
        settings.switches = rng.below(2) == 0 ? SwitchKind::crosspoint : SwitchKind::input_queued;
        settings.options = {.vcs = wired.paths.class_count() + rng.below(3), .buffer = 1 + rng.below(8)};
        if (settings.switches == SwitchKind::crosspoint) {
            settings.options.switching = Switching::cut_through;
            settings.options.buffer += settings.format.flit_count(settings.format.payload);
        }
        CAPTURE(wired.machine.text());
        CAPTURE(it.name);
        CAPTURE(program.rank_count());
        ProgramRun rounds(program, nodes, wired.machine.node_count(), settings.format, settings.costs);
        const std::vector<std::uint64_t> expected = finish(wired, rounds, settings);
        const OperationGraph graph = convert_to_operations(program);
        CHECK(run_operations(wired, graph, nodes, settings) == expected);
        if (settings.switches == SwitchKind::crosspoint || std::ranges::max(expected) > 2000) continue;
        settings.threads = 2;
        CHECK(run_operations(wired, graph, nodes, settings) == expected);
    }
}

TEST_CASE("work is serial on one processor and parallel on two") {
    const testing::WiredMachine machine("torus:8");
    const auto finish_of = [&](const std::string& lines, double nanosecond = 1) {
        const OperationGraph graph = read_goal_text("num_ranks 1\nrank 0 {\n" + lines + "}\n");
        return run_operations(machine, graph, ranks_in_order(1), {.nanosecond = nanosecond})[0];
    };
    CHECK(finish_of("a: calc 100\n") == 100);
    CHECK(finish_of("a: calc 100\n", 0.333) == 33);
    std::string small;
    for (int i = 0; i < 1000; ++i) small += "calc 1\n";
    CHECK(finish_of(small, 0.625) == 625);
    CHECK(finish_of("a: calc 0\n") == 0);
    CHECK(finish_of("a: calc 100\nb: calc 50\n") == 150);
    CHECK(finish_of("a: calc 100 cpu 0\nb: calc 50 cpu 1\n") == 100);
    CHECK(finish_of("a: calc 100 cpu 0\nb: calc 50 cpu 1\nb requires a\n") == 150);
    CHECK(finish_of("a: calc 100 cpu 0\nb: calc 50 cpu 1\nb irequires a\n") == 100);
    CHECK(finish_of("a: calc 30 cpu 0\nb: calc 100 cpu 0\nc: calc 200 cpu 1\nc irequires b\n") == 230);
    CHECK(finish_of("a: calc 1000000000000\n") == 1000000000000);
    CHECK_THROWS_WITH_AS(finish_of("a: calc 90000000000000000\nb: calc 90000000000000000\n"),
                         "calc 90000000000000000 of rank 0 (line 4): the total work up to this operation is "
                         "too long to simulate",
                         Error);
}

TEST_CASE("messages overlap with work that does not wait for them") {
    const testing::WiredMachine machine("torus:8");
    const auto finish_of = [&](const std::string& from, const std::string& to, const MessageCycles& costs) {
        const OperationGraph graph =
            read_goal_text("num_ranks 2\nrank 0 {\n" + from + "}\nrank 1 {\n" + to + "}\n");
        return run_operations(machine, graph, ranks_in_order(2), {.costs = costs});
    };
    const std::uint64_t there = alone(2, 4);  // flits of 100 bytes and a header
    using Finish = std::vector<std::uint64_t>;
    CHECK(finish_of("s: send 100b to 1\n", "r: recv 100b from 0\n", {}) == Finish{4, there});
    // A message that is sent first arrives before the work ends; one that is sent when the work is done
    // arrives later.
    CHECK(finish_of("s: send 100b to 1\nc: calc 500\n", "r: recv 100b from 0\n", {.send = 10}) ==
          Finish{510, 10 + there});
    CHECK(finish_of("c: calc 500\ns: send 100b to 1\ns requires c\n", "r: recv 100b from 0\n",
                    {.send = 10}) == Finish{514, 510 + there});
    // A late receive ends at once if its message has arrived, otherwise with its arrival.
    CHECK(finish_of("s: send 100b to 1\n", "c: calc 500\nr: recv 100b from 0 cpu 1\nr requires c\n", {})[1] ==
          500);
    CHECK(finish_of("s: send 100b to 1\n", "c: calc 5\nr: recv 100b from 0 cpu 1\nr requires c\n", {})[1] ==
          there);
    // The processor that receives handles messages only when it is idle.
    CHECK(finish_of("s: send 100b to 1\n", "c: calc 500\nr: recv 100b from 0\n", {.receive = 30})[1] == 530);
    CHECK(finish_of("s: send 100b to 1\n", "c: calc 500\nr: recv 100b from 0 cpu 1\n", {.receive = 30})[1] ==
          500);
    CHECK(finish_of("s: send 100b to 1\n", "r: recv 100b from 0\n", {.receive = 30, .latency = 200})[1] ==
          there + 230);
    // The message is in flight during the work.
    CHECK(finish_of("s: send 100b to 1\n", "c: calc 500\nr: recv 100b from 0\n", {.latency = 200})[1] == 500);
    CHECK(finish_of("s: send 100b to 1\n", "c: calc 500\nr: recv 100b from 0\n", {.latency = 600})[1] ==
          there + 600);
}

TEST_CASE("sends that wait for a busy processor do not delay another processor") {
    const testing::WiredMachine machine("torus:8");
    for (const int count : {15, 16, 40}) {
        std::string from = "calc 100000\n", to;
        for (int i = 0; i < count; ++i) {
            from += "send 8b to 1\n";
            to += "recv 8b from 0\n";
        }
        const OperationGraph graph =
            read_goal_text("num_ranks 3\nrank 0 {\n" + from + "send 8b to 2 cpu 1\n}\nrank 1 {\n" + to +
                           "}\nrank 2 {\nrecv 8b from 0\n}\n");
        const auto ends = run_operations(machine, graph, ranks_in_order(3), {.costs = {.send = 10}});
        CHECK(ends[2] < 100);
        CHECK(ends[1] > 100000);
    }
}

TEST_CASE("a send ends when its last packet has left a NIC that is slower than the links") {
    const testing::WiredMachine machine("torus:8");
    const OperationGraph graph = read_goal_text(
        "num_ranks 2\nrank 0 {\na: send 2560b to 1\nb: calc 7 cpu 1\nb requires a\n}\n"
        "rank 1 {\nrecv 2560b from 0\n}\n");
    std::vector<ChannelTimes> times(machine.fabric.channel_count());
    for (const ChannelId id : ids<ChannelId>(times.size()))
        if (machine.fabric.channel(id).is_entry()) times[id.value].period = 10 * ChannelTimes::cycle;
    const PacketFormat format{.flit = 32, .payload = 256, .header = 0};
    const SwitchOptions options{.vcs = 2, .buffer = 16};
    for (const bool crosspoints : {false, true}) {
        OperationRun ranks(graph, ranks_in_order(2), machine.machine.node_count(), format, {}, 1);
        const auto network =
            crosspoints
                ? make_crosspoint_network(machine.fabric, machine.paths, ranks, options, 1, times)
                : make_input_queued_network(machine.fabric, machine.paths, ranks, options, 1, 1, times);
        Meter meter{Budget{}};
        (void)run_to_end(*network, ranks, meter);
        CHECK(ranks.finish(Rank{0}) == 80 * 10 + 7);
    }
}

TEST_CASE("messages match in the order of operations, in any order of arrival") {
    const testing::WiredMachine machine("torus:8");
    const OperationGraph graph = read_goal_text(
        "num_ranks 2\nrank 0 {\nslow: calc 1000\na: send 8b to 1 tag 1\na requires slow\n"
        "b: send 8b to 1 tag 2 cpu 1\n}\n"
        "rank 1 {\nfirst: recv 8b from 0 tag 1\nsecond: recv 8b from 0 tag 2\ndone: calc 7 cpu 1\n"
        "done requires second\n}\n");
    OperationRun ranks(graph, ranks_in_order(2), machine.machine.node_count(), {}, {}, 1);
    const auto network = make_input_queued_network(machine.fabric, machine.paths, ranks, {}, 1, 1);
    network->run(100);
    // The work, the second send and receive, and later operations finish, but the first send and receive do
    // not.
    CHECK(ranks.steps_done() == 3);
    CHECK(ranks.describe_first_waiting() == "recv 8b from 0 of rank 1 (line 9) waits for its message");
    network->run(1000);
    CHECK(ranks.is_done());
}

TEST_CASE("messages inside a node pass through its memory in sequence") {
    const testing::WiredMachine machine("mesh:2");
    const OperationGraph graph = read_goal_text(
        "num_ranks 4\nrank 0 {\na: send 1000b to 2\n}\nrank 1 {\na: send 1000b to 3\n}\n"
        "rank 2 {\na: recv 1000b from 0\n}\nrank 3 {\na: recv 1000b from 1\n}\n");
    const auto ends =
        run_operations(machine, graph, ranks_in_order(4, 4), {.costs = {.memory_rate = 10, .memory = 7}});
    CHECK(ends == std::vector<std::uint64_t>{7, 7, 107, 207});
}

TEST_CASE("ranks on nonexistent nodes, and packet formats without flits, are refused") {
    const OperationGraph graph = read_goal_text("num_ranks 2\nrank 0 {\na: calc 1\n}\n");
    CHECK_THROWS_AS(OperationRun(graph, ranks_in_order(1), 3, {}, {}, 1), Error);
    CHECK_THROWS_AS(OperationRun(graph, ranks_in_order(2), 1, {}, {}, 1), Error);
    CHECK_THROWS_AS(OperationRun(graph, ranks_in_order(2), 2, {.flit = 0}, {}, 1), Error);
}
