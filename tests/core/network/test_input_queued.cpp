// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>

#include "network/random_network.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/network/workloads/measure_load.hpp"
#include "topoloom/network/workloads/open_loop.hpp"

using namespace topoloom;

namespace {

/// A network, with all objects to which it has references.
struct LoadedRouters {
    Machine machine;
    Fabric fabric{machine};
    Paths paths{fabric};
    TrafficPattern traffic;
    OpenLoop senders;
    std::unique_ptr<PacketNetwork> network;

    LoadedRouters(const std::string& text, const std::string& to, std::uint32_t packet,
                  const SwitchOptions& options, double load, std::uint64_t seed = 1, int threads = 1)
        : machine(make_machine(text)),
          traffic(to, machine.node_count(), seed),
          senders(traffic, machine.node_count(), packet, load, seed),
          network(make_input_queued_network(fabric, paths, senders, options, seed, threads)) {}
};

double mean_latency(const ReceivedPackets& received) {
    return static_cast<double>(received.latency) / static_cast<double>(received.packets);
}

}  // namespace

TEST_CASE("a packet without contention takes the sum of the times of its steps") {
    for (const std::uint32_t flits : {1U, 4U})
        for (const std::uint32_t routing : {0U, 1U, 3U})
            for (const std::uint32_t channel : {1U, 5U}) {
                const SwitchOptions options{.routing = routing, .crossing = 2, .channel = channel};
                // Three links, hence four routers.
                LoadedRouters one("torus:8", "shift(by=3)", flits, options, 0.0002);
                one.network->run(200000);
                const ReceivedPackets received = one.network->take_received();
                REQUIRE(received.packets > 10);
                const std::uint64_t router = std::max(routing, 1U) + 1 + 2 + channel - (routing == 0 ? 1 : 0);
                const std::uint64_t expected = channel + 4 * router + flits - 1;
                CHECK(received.by_latency[expected] >= received.packets * 95 / 100);
                for (std::uint64_t less = 0; less < expected; ++less) CHECK(received.by_latency[less] == 0);
            }
}

TEST_CASE("flits and credits are conserved in any configuration, and all packets arrive") {
    const auto machines = testing::routed_machines();
    for (std::uint64_t seed = 0; seed < 300; ++seed)
        CHECK_NOTHROW(testing::run_random_network(machines, seed, 1));
}

TEST_CASE("equal seeds give equal packets, different seeds different ones") {
    const auto run = [](std::uint64_t seed) {
        LoadedRouters one("torus:4x4", "uniform", 4, {}, 0.3, seed);
        one.network->run(3000);
        return one.network->take_received();
    };
    CHECK(run(5).by_latency == run(5).by_latency);
    CHECK(run(5).by_latency != run(6).by_latency);
}

TEST_CASE("any number of threads gives the same packets at the same times" * doctest::test_suite("threads")) {
    Rng rng(13);
    const char* const machines[] = {"torus:4x3", "mesh:3x3", "fattree:3:3", "dragonfly:4x2x2,routing=minimal",
                                    "rails:4:4:2"};
    for (int drawn = 0; drawn < 25; ++drawn) {
        const SwitchOptions options{.vcs = 2 + rng.below(4),
                                    .buffer = 4 + rng.below(8),
                                    .routing = rng.below(3),
                                    .crossing = 1 + rng.below(3),
                                    .channel = 1 + rng.below(3)};
        const char* const machine = machines[rng.below(5)];
        const std::uint32_t packet = 1 + rng.below(4), load = rng.below(100);
        const auto run = [&](int threads) {
            LoadedRouters one(machine, "uniform", packet, options, 0.05 + 0.009 * load, drawn, threads);
            one.network->run(331);
            one.network->check();
            const std::vector<std::uint64_t> lag = one.network->lags();
            one.network->run(200);
            one.network->check();
            const ReceivedPackets received = one.network->take_received();
            return std::tuple(received.packets, received.flits, received.latency, received.by_latency, lag,
                              one.network->flit_hops());
        };
        const auto alone = run(1);
        CHECK(std::get<0>(alone) > 0);
        CHECK(run(2) == alone);
        CHECK(run(3) == alone);
    }
}

// Karol, Hluchyj, Morgan, Input Versus Output Queueing on a Space-Division Packet Switch, IEEE Trans. Comm. 35, 1987.
TEST_CASE("with one queue per input, a large switch sustains 2 - sqrt 2 of the full load") {
    const SwitchOptions options{.vcs = 1, .buffer = 64, .routing = 0};
    LoadedRouters routers("fattree:256", "uniform", 1, options, 1);
    routers.network->run(2000);
    (void)routers.network->take_received();
    routers.network->run(4000);
    const double accepted = static_cast<double>(routers.network->take_received().flits) / 4000 / 256;
    CHECK(accepted == doctest::Approx(2 - std::sqrt(2.0)).epsilon(0.01));
}

TEST_CASE("a NIC is a queue with a fixed service time") {
    // Geo/D/1: arrivals with probability p per cycle, service time s; the mean wait is p s (s - 1) / (2 (1 -
    // p s)).
    for (const double load : {0.4, 0.8}) {
        const SwitchOptions options{.vcs = 1, .buffer = 64, .routing = 0};
        LoadedRouters one("fattree:2", "shift", 8, options, load);
        one.network->run(10000);
        (void)one.network->take_received();
        one.network->run(3000000);
        const double wait = load * (8 - 1) / (2 * (1 - load));
        const double alone = 1 + 1 + 1 + 1 + 8 - 1;
        CHECK(mean_latency(one.network->take_received()) - alone == doctest::Approx(wait).epsilon(0.01));
    }
}

TEST_CASE(
    "measurement continues until the mean is known, and a load that is too high is reported as saturated") {
    const auto measure = [](double load) {
        LoadedRouters one("torus:4x4", "uniform", 4, {.vcs = 4}, load);
        const Budget budget;
        Meter meter(budget);
        return measure_load(*one.network, one.senders, {}, meter);
    };
    const LoadMeasure low = measure(0.1), high = measure(0.95);
    CHECK(low.complete);
    CHECK_FALSE(low.saturated);
    CHECK(low.accepted == doctest::Approx(0.1).epsilon(0.03));
    CHECK(low.half_width <= 0.01 * low.latency_mean);
    CHECK(low.latency_p50 <= low.latency_p99);
    CHECK(high.saturated);
    CHECK(high.accepted < 0.9);
}

TEST_CASE("a load is reported as saturated even if only a few nodes cannot sustain it") {
    // Nodes 0 and 1 share a cable to the switch of all other nodes, each of which has its own cable.
    std::string star = "graph:60+2:0-60,1-60,60-61";
    for (int node = 2; node < 60; ++node) star += "," + std::to_string(node) + "-61";
    const auto is_saturated = [&](double load) {
        LoadedRouters one(star, "shift(by=2)", 4, {}, load);
        const Budget budget;
        Meter meter(budget);
        return measure_load(*one.network, one.senders, {}, meter).saturated;
    };
    CHECK_FALSE(is_saturated(0.4));
    CHECK(is_saturated(0.6));
}

TEST_CASE("a load that exceeds the capacity by little is reported as saturated") {
    // 4 nodes share a cable, through which at most 0.222 flits per node and cycle pass.
    const auto is_saturated = [&](double load) {
        LoadedRouters one("graph:8+2:0-8,1-8,2-8,3-8,4-9,5-9,6-9,7-9,8-9", "shift(by=4)", 4, {}, load);
        const Budget budget;
        Meter meter(budget);
        return measure_load(*one.network, one.senders, {}, meter).saturated;
    };
    CHECK_FALSE(is_saturated(0.215));
    CHECK(is_saturated(0.2235));
}

TEST_CASE("a measurement that is stopped is marked as stopped") {
    LoadedRouters one("torus:4x4", "uniform", 4, {}, 0.1);
    const Budget budget{.keep_going = [](std::uint64_t) { return false; }};
    Meter meter(budget);
    CHECK_FALSE(measure_load(*one.network, one.senders, {}, meter).complete);
}

TEST_CASE("impossible simulations are refused with a one-line error") {
    const auto refused = [](const SwitchOptions& options, double load, const std::string& why) {
        CHECK_THROWS_WITH_AS(LoadedRouters("torus:8", "uniform", 4, options, load),
                             doctest::Contains(why.c_str()), Error);
    };
    refused({.vcs = 1}, 0.1, "packets could wait for each other in a cycle: (0) +x, (1) +x");
    refused({}, 0, "above 0 and at most 1");
    refused({}, 1.5, "above 0 and at most 1");
    refused({}, std::nan(""), "above 0 and at most 1");
    refused({.buffer = 0}, 0.1, "flits of a buffer must be 1 to 65535, not 0");
    refused({.buffer = 3, .switching = Switching::cut_through}, 0.1, "cannot hold a packet of 4");
}
