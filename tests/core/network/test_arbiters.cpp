// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include <cstdint>
#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/network/input_queued/input_queued.hpp"
#include "topoloom/network/workloads/measure_load.hpp"
#include "topoloom/network/workloads/open_loop.hpp"

using namespace topoloom;

namespace {

/// Runs a switch of 16 nodes that send one-flit packets to random outputs.
ReceivedPackets run_switch(const SwitchOptions& options, double load, std::uint64_t cycles) {
    const Machine machine = make_machine("fattree:16");
    const Fabric fabric(machine);
    const Paths paths(fabric);
    const TrafficPattern traffic("uniform", 16, 1);
    OpenLoop senders(traffic, 16, 1, load, 1);
    const auto network = make_input_queued_network(fabric, paths, senders, options, 1);
    network->run(2000);
    (void)network->take_received();
    network->run(cycles);
    network->check();
    return network->take_received();
}

/// Throughput of the switch under full load, in flits per node and cycle.
double measure_throughput(const SwitchOptions& options) {
    return static_cast<double>(run_switch(options, 1, 4000).flits) / 4000 / 16;
}

/// The size of a maximum matching, computed by augmenting paths.
std::size_t max_matching_size(Matching& matching, std::uint32_t outputs) {
    std::vector<std::uint32_t> from(outputs, no_index);
    std::size_t pairs = 0;
    for (std::uint32_t input = 0; input < matching.inputs(); ++input) {
        std::vector<bool> seen(outputs, false);
        const auto augment = [&](const auto& self, std::uint32_t at) -> bool {
            for (std::uint32_t output = 0; output < outputs; ++output) {
                if (matching.request(at, output) == 0 || seen[output]) continue;
                seen[output] = true;
                if (from[output] != no_index && !self(self, from[output])) continue;
                from[output] = at;
                return true;
            }
            return false;
        };
        pairs += augment(augment, input) ? 1 : 0;
    }
    return pairs;
}

}  // namespace

TEST_CASE("every matched pair was requested, and every request has a matched input or output") {
    Rng rng(3);
    Matching matching;
    for (int drawn = 0; drawn < 500; ++drawn) {
        const std::uint32_t inputs = 1 + rng.below(8), outputs = 1 + rng.below(8);
        std::vector<RoundRobin> output_turns(outputs), input_turns(inputs);
        const bool is_wavefront = rng.below(2) == 0;
        matching.reset(inputs, outputs);
        for (std::uint32_t i = 0; i < inputs; ++i)
            for (std::uint32_t o = 0; o < outputs; ++o)
                matching.request(i, o) = static_cast<std::uint8_t>(rng.below(3) == 0);
        if (is_wavefront) {
            matching.match_wavefront(rng.below(100));
        } else {
            matching.match_islip(16, output_turns, input_turns);
        }
        std::size_t pairs = 0;
        std::vector<bool> taken(outputs, false);
        for (std::uint32_t i = 0; i < inputs; ++i) {
            const std::uint32_t own = matching.output_of(i);
            if (own == no_index) continue;
            ++pairs;
            CHECK(matching.request(i, own) != 0);
            CHECK(!taken[own]);
            taken[own] = true;
        }
        for (std::uint32_t i = 0; i < inputs; ++i)
            for (std::uint32_t o = 0; o < outputs; ++o)
                if (matching.request(i, o) != 0) CHECK((matching.output_of(i) != no_index || taken[o]));
        const std::size_t most = max_matching_size(matching, outputs);
        CHECK(pairs <= most);
        CHECK(2 * pairs >= most);
    }
}

TEST_CASE("more iterations of iSLIP keep all pairs of the first one") {
    Rng rng(4);
    for (int drawn = 0; drawn < 200; ++drawn) {
        Matching one, three;
        for (Matching* const matching : {&one, &three}) matching->reset(6, 6);
        for (std::uint32_t i = 0; i < 6; ++i)
            for (std::uint32_t o = 0; o < 6; ++o)
                one.request(i, o) = three.request(i, o) = static_cast<std::uint8_t>(rng.below(2));
        std::vector<RoundRobin> outputs(6), inputs(6), outputs3(6), inputs3(6);
        one.match_islip(1, outputs, inputs);
        three.match_islip(3, outputs3, inputs3);
        for (std::uint32_t i = 0; i < 6; ++i)
            if (one.output_of(i) != no_index) CHECK(three.output_of(i) == one.output_of(i));
    }
}

// Published throughputs: with one queue per input, 0.6 for 16 inputs (Karol, Hluchyj, Morgan 1987); with
// virtual output queues, 1 (McKeown 1999) if packets need no virtual channel. Here packets first request a
// virtual channel, and one iteration does not compensate for this.
TEST_CASE(
    "virtual output queues sustain the full load, a single queue per input sustains three fifths of it") {
    const SwitchOptions fifo{.vcs = 1, .buffer = 64, .routing = 0};
    CHECK(measure_throughput(fifo) == doctest::Approx(0.602).epsilon(0.03));
    SwitchOptions voq{.vcs = 1, .buffer = 16, .routing = 0, .queues = InputQueues::by_output};
    CHECK(measure_throughput(voq) > 0.8);
    voq.iterations = 4;
    CHECK(measure_throughput(voq) > 0.95);
    voq.allocator = Allocator::wavefront;
    CHECK(measure_throughput(voq) > 0.95);
}

TEST_CASE("serving the oldest packet first reduces the longest latencies") {
    const auto longest = [](Arbiter arbiter) {
        const ReceivedPackets received = run_switch({.vcs = 4, .buffer = 8, .arbiter = arbiter}, 0.7, 20000);
        std::uint64_t left = received.packets / 1000, cycles = received.by_latency.size();
        while (left > 0) left -= std::min(left, received.by_latency[--cycles]);
        return cycles;
    };
    CHECK(longest(Arbiter::age) < longest(Arbiter::random));
}

TEST_CASE("more output queues than virtual channels are refused with a one-line error") {
    const Machine machine = make_machine("fattree:40");
    const Fabric fabric(machine);
    const Paths paths(fabric);
    const TrafficPattern traffic("uniform", 40, 1);
    OpenLoop senders(traffic, 40, 1, 0.5, 1);
    CHECK_THROWS_WITH_AS(
        make_input_queued_network(fabric, paths, senders, {.vcs = 1, .queues = InputQueues::by_output}, 1),
        doctest::Contains("queues for each of 40 outputs, 1 each, are 40; an input has at most 32"), Error);
}
