// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "network/random_program.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/network/programs/program_run.hpp"
#include "topoloom/network/programs/run_to_end.hpp"
#include "topoloom/network/programs/schedule_program.hpp"
#include "topoloom/network/programs/stored_program.hpp"
#include "topoloom/schedule/collectives/registry.hpp"

using namespace topoloom;
using testing::alone, testing::ranks_in_order;

namespace {

struct RunResult {
    std::uint64_t end = 0;
    std::vector<std::uint64_t> finish{};
    std::uint64_t packets = 0, flits = 0;
};

RunResult run(const testing::WiredMachine& wired, const Program& program, const std::vector<Node>& nodes,
              const PacketFormat& format = {}, const MessageCycles& costs = {},
              const SwitchOptions& options = {}, int threads = 1, std::uint64_t slice = 0) {
    ProgramRun ranks(program, nodes, wired.machine.node_count(), format, costs);
    const auto network = make_input_queued_network(wired.fabric, wired.paths, ranks, options, 1, threads);
    RunResult ran;
    if (slice == 0) {
        Meter meter{Budget{}};
        ran.end = run_to_end(*network, ranks, meter);
    } else {
        while (!ranks.is_done()) network->run(slice);
    }
    network->run(100);
    network->check();
    for (const Rank rank : ids<Rank>(program.rank_count())) ran.finish.push_back(ranks.finish(rank));
    const ReceivedPackets received = network->take_received();
    ran.packets = received.packets;
    ran.flits = received.flits;
    return ran;
}

}  // namespace

TEST_CASE("a single message takes the time of its packets plus the overheads of its ranks") {
    const testing::WiredMachine machine("torus:8");
    const PacketFormat format{.flit = 32, .payload = 256, .header = 16};
    const SwitchOptions options{.vcs = 2, .buffer = 64};
    for (const std::int64_t bytes : {0, 1, 16, 17, 256, 257, 5000}) {
        const StoredProgram program(8, std::vector<StoredMessage>{{Rank{1}, Rank{4}, 0, Bytes{bytes}}});
        const RunResult ran =
            run(machine, program, ranks_in_order(8), format, {.send = 100, .receive = 70}, options);
        std::uint64_t flits = 0, left = static_cast<std::uint64_t>(bytes);
        do {
            const std::uint64_t carried = std::min<std::uint64_t>(left, 256);
            flits += (carried + 16 + 31) / 32;
            left -= carried;
        } while (left > 0);
        CHECK(ran.flits == flits);
        // Each further packet uses other virtual channels, and follows as fast as the channel accepts flits.
        CHECK(ran.finish[4] == 100 + alone(4, flits, options) + 70);
        CHECK(ran.end == ran.finish[4]);
        CHECK(ran.finish[1] == 100 + flits);
        CHECK(ran.finish[0] == 0);
    }
}

TEST_CASE("channels have the given latency") {
    const testing::WiredMachine machine("torus:8");
    const SwitchOptions options{.vcs = 2, .buffer = 64};
    const PacketFormat format{.flit = 32, .payload = 256, .header = 0};
    std::vector<ChannelTimes> times(machine.fabric.channel_count());
    const auto run_one = [&](std::int64_t bytes) {
        const StoredProgram program(8, std::vector<StoredMessage>{{Rank{1}, Rank{4}, 0, Bytes{bytes}}});
        ProgramRun ranks(program, ranks_in_order(8), 8, format, {});
        const auto network =
            make_input_queued_network(machine.fabric, machine.paths, ranks, options, 1, 1, times);
        Meter meter{Budget{}};
        (void)run_to_end(*network, ranks, meter);
        return std::pair(ranks.finish(Rank{4}), network->carried());
    };
    CHECK(run_one(32).first == alone(4, 1, options));
    for (std::uint32_t i = 0; i < times.size(); ++i) times[i].delay = 10 + i;
    std::uint64_t longer = 0;
    const auto& [late, carried] = run_one(32);
    for (std::uint32_t i = 0; i < times.size(); ++i) longer += carried[i] * (9 + i);
    CHECK(late == alone(4, 1, options) + longer);

    times.assign(times.size(), {});
    const std::uint64_t fast = run_one(32 * 1000).first;
    for (ChannelTimes& one : times) one.period = ChannelTimes::cycle * 5 / 2;
    const std::uint64_t slow = run_one(32 * 1000).first;
    CHECK(static_cast<double>(slow - fast) == doctest::Approx(1.5 * 1000).epsilon(0.01));
    times.pop_back();
    CHECK_THROWS_AS(run_one(1), Error);
}

TEST_CASE("a rank sends only after the messages for which it waits have arrived") {
    const testing::WiredMachine machine("torus:8");
    std::vector<StoredMessage> relay;
    for (std::uint32_t i = 0; i < 7; ++i) relay.push_back({Rank{i}, Rank{i + 1}, i, Bytes{100}});
    const RunResult ran =
        run(machine, StoredProgram(8, relay), ranks_in_order(8), {}, {.send = 50, .receive = 30});
    const std::uint64_t hop = 50 + alone(2, 4, {}) + 30;
    for (std::uint64_t i = 0; i < 7; ++i) CHECK(ran.finish[i] == i * hop + 50 + 4);
    CHECK(ran.finish[7] == 7 * hop);
}

TEST_CASE("schedules send all packets on any machine, and end in the same cycle for any number of threads" *
          doctest::test_suite("threads")) {
    Rng rng(3);
    const auto machines = testing::small_machines();
    for (int drawn = 0; drawn < 120; ++drawn) {
        const testing::WiredMachine& wired =
            *machines[rng.below(static_cast<std::uint32_t>(machines.size()))];
        const testing::RandomProgram it(wired, rng);
        const std::vector<Node>& nodes = it.nodes;
        const AnySchedule schedule = make_schedule(it.call, it.name);
        const ScheduleProgram program(schedule);
        const PacketFormat format{
            .flit = 16 + rng.below(50), .payload = 1 + rng.below(300), .header = rng.below(30)};
        const MessageCycles costs{.send = rng.below(300),
                                  .receive = rng.below(300),
                                  .memory_rate = rng.below(3) * 7.5,
                                  .memory = rng.below(10)};
        const SwitchOptions options{.vcs = wired.paths.class_count() + rng.below(3),
                                    .buffer = 1 + rng.below(8)};
        CAPTURE(wired.machine.text());
        CAPTURE(it.name);
        std::uint64_t packets = 0;
        std::vector<ProgramMessage> messages;
        for (const Rank rank : ids<Rank>(program.rank_count()))
            for (std::uint64_t step = 0; step < program.step_count(); ++step) {
                messages.clear();
                program.list_sends(rank, step, messages);
                for (const ProgramMessage& message : messages)
                    if (nodes[message.peer.value] != nodes[rank.value])
                        packets += format.packet_count(message.bytes);
            }
        const RunResult ran = run(wired, program, nodes, format, costs, options);
        CHECK(ran.packets == packets);
        // Threads wait for each other often, which is slow on busy cores, so only short runs use two.
        if (ran.end < 2000) CHECK(run(wired, program, nodes, format, costs, options, 2).finish == ran.finish);
        const RunResult sliced = run(wired, program, nodes, format, costs, options, 1, 1 + rng.below(50));
        CHECK(sliced.finish == ran.finish);
    }
}

TEST_CASE("a rank continues to send while messages to it are in flight") {
    const testing::WiredMachine machine("torus:8");
    for (const std::uint32_t count : {15U, 16U, 17U, 40U}) {
        std::vector<StoredMessage> messages{{Rank{4}, Rank{0}, 0, Bytes{64}}};
        for (std::uint32_t i = 0; i < count; ++i) messages.push_back({Rank{0}, Rank{1}, 0, Bytes{256}});
        const auto finish = [&](std::uint64_t latency) {
            return run(machine, StoredProgram(8, messages), ranks_in_order(8), {}, {.latency = latency})
                .finish;
        };
        const std::vector<std::uint64_t> at_once = finish(0), late = finish(20000);
        CHECK(late[1] == at_once[1] + 20000);
        CHECK(late[0] > 20000);
        CHECK(late[0] < 20000 + 100);
    }
}

TEST_CASE("messages of a later step do not delay an earlier step") {
    const testing::WiredMachine machine("mesh:3");
    // Ranks 0 and 1 share a node with slow memory; rank 1 sends data for the second step of rank 0.
    const std::vector<StoredMessage> messages{{Rank{2}, Rank{0}, 0, Bytes{8}},
                                              {Rank{1}, Rank{0}, 1, Bytes{100000}},
                                              {Rank{0}, Rank{2}, 1, Bytes{8}}};
    const std::vector<Node> nodes{Node{0}, Node{0}, Node{1}};
    const RunResult ran = run(machine, StoredProgram(3, messages), nodes, {}, {.memory_rate = 1});
    CHECK(ran.finish[0] >= 100000);
    CHECK(ran.finish[2] < 100);
}

TEST_CASE("ranks of a node share its NIC and memory") {
    const testing::WiredMachine machine("mesh:2");
    std::vector<StoredMessage> both;
    for (std::uint32_t i = 0; i < 4; ++i) both.push_back({Rank{i}, Rank{4 + i}, 0, Bytes{256 * 100}});
    const PacketFormat format{.flit = 32, .payload = 256, .header = 0};
    const RunResult four =
        run(machine, StoredProgram(8, both), ranks_in_order(8, 4), format, {}, {.vcs = 4, .buffer = 32});
    CHECK(four.end >= 4 * 800);
    CHECK(four.end < 4 * 800 * 1.05);
    // The messages take turns, and therefore arrive at about the same time.
    for (std::uint32_t i = 4; i < 8; ++i) CHECK(four.finish[i] > 3.9 * 800);

    std::vector<StoredMessage> inside;
    for (std::uint32_t i = 0; i < 2; ++i) inside.push_back({Rank{i}, Rank{2 + i}, 0, Bytes{1000}});
    const RunResult shared = run(machine, StoredProgram(4, inside), ranks_in_order(4, 4), format,
                                 {.memory_rate = 10, .memory = 7});
    CHECK(shared.packets == 0);
    CHECK(shared.finish[2] == 107);
    CHECK(shared.finish[3] == 207);
}

TEST_CASE("jobs that share no links take as long as alone, and jobs that share links take longer") {
    const testing::WiredMachine machine("mesh:8");
    std::vector<StoredMessage> ring, rings;
    for (std::uint32_t i = 0; i < 4; ++i) ring.push_back({Rank{i}, Rank{(i + 1) % 4}, 0, Bytes{4000}});
    for (std::uint32_t first : {0U, 4U})
        for (StoredMessage message : ring) {
            message.from = Rank{message.from.value + first};
            message.to = Rank{message.to.value + first};
            rings.push_back(message);
        }
    const StoredProgram job(4, ring), two(8, rings);
    const std::uint64_t alone_there = run(machine, job, ranks_in_order(4)).end;
    CHECK(run(machine, two, ranks_in_order(8)).end == alone_there);
    const std::vector<Node> mixed{Node{0}, Node{2}, Node{4}, Node{6}, Node{1}, Node{3}, Node{5}, Node{7}};
    const std::vector<Node> half(mixed.begin(), mixed.begin() + 4);
    CHECK(run(machine, two, mixed).end > run(machine, job, half).end);
}

TEST_CASE("an error names the packets of ranks in a cyclic wait") {
    const testing::WiredMachine machine("torus:8");
    std::vector<StoredMessage> round;
    for (std::uint32_t i = 0; i < 8; ++i) round.push_back({Rank{i}, Rank{(i + 3) % 8}, 0, Bytes{100000}});
    CHECK_THROWS_WITH_AS(run(machine, StoredProgram(8, round), ranks_in_order(8), {}, {},
                             {.vcs = 1, .buffer = 2, .allow_deadlock = true}),
                         doctest::Contains("packets are deadlocked: the packet to node"), Error);
}

TEST_CASE("an error names the rank that waits for an unsent message") {
    /// Rank 1 waits for rank 0, which sends no message.
    class SilentProgram final : public Program {
       public:
        [[nodiscard]] std::size_t rank_count() const override { return 3; }
        [[nodiscard]] std::uint64_t step_count() const override { return 2; }
        void list_sends(Rank /*rank*/, std::uint64_t /*step*/,
                        std::vector<ProgramMessage>& /*messages*/) const override {}
        void list_receives(Rank rank, std::uint64_t step,
                           std::vector<ProgramMessage>& messages) const override {
            if (rank.value == 1 && step == 1) messages.push_back({Rank{0}, Bytes{8}});
        }
    };
    const testing::WiredMachine machine("mesh:3");
    CHECK_THROWS_WITH_AS(run(machine, SilentProgram{}, ranks_in_order(3)),
                         "the program deadlocks: rank 1 waits in step 1 for rank 0", Error);
    CHECK_THROWS_AS(ProgramRun(SilentProgram{}, ranks_in_order(2), 3, {}, {}), Error);
    CHECK_THROWS_AS(ProgramRun(SilentProgram{}, ranks_in_order(3), 2, {}, {}), Error);
    CHECK_THROWS_AS(ProgramRun(SilentProgram{}, ranks_in_order(3), 3, {.flit = 0}, {}), Error);
}
