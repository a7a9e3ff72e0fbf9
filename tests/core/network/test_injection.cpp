// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "topoloom/base/budget.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/network/input_queued/input_queued.hpp"
#include "topoloom/network/workloads/closed_loop.hpp"
#include "topoloom/network/workloads/measure_load.hpp"
#include "topoloom/network/workloads/multicast_load.hpp"
#include "topoloom/network/workloads/open_loop.hpp"

using namespace topoloom;

namespace {

/// Number of packets that a source sends in each cycle.
std::vector<int> count_packets(const std::string& injection, double load, std::uint32_t packet,
                               std::uint64_t seed, std::size_t cycles) {
    PacketSource source(Injection(injection), load, packet, seed, 0);
    std::vector<int> packets(cycles);
    for (; source.next() < cycles; source.take()) ++packets[source.next()];
    return packets;
}

double mean(const std::vector<int>& made) {
    double sum = 0;
    for (const int packets : made) sum += packets;
    return sum / static_cast<double>(made.size());
}

/// Variance of the packet count in a window of cycles, divided by the mean; 1 for independent packets.
double dispersion(const std::vector<int>& made, std::size_t window) {
    const std::size_t windows = made.size() / window;
    double sum = 0, squared = 0;
    for (std::size_t w = 0; w < windows; ++w) {
        double packets = 0;
        for (std::size_t i = 0; i < window; ++i) packets += made[w * window + i];
        sum += packets;
        squared += packets * packets;
    }
    const double middle = sum / static_cast<double>(windows);
    return (squared / static_cast<double>(windows) - middle * middle) / middle;
}

/// The same ratio for a two-state Markov source and a long window, computed from covariances.
double markov_dispersion(double load, std::uint32_t packet, double length, double peak) {
    const double chance = peak / packet, share = load / peak;
    const double stays = 1 - 1 / length - share / (1 - share) / length;
    return 1 - chance * share + 2 * chance * (1 - share) * stays / (1 - stays);
}

constexpr std::size_t many = 4000000;

LoadMeasure measure_injection(const Machine& machine, const std::string& injection, double load,
                              std::uint32_t packet, int threads = 1, const std::string& text = "shift") {
    const Fabric fabric(machine);
    const Paths paths(fabric);
    const TrafficPattern traffic(text, fabric.node_count(), 1);
    ClosedLoop senders(traffic, fabric.node_count(), packet, load, 1, Injection(injection));
    const auto network = make_input_queued_network(
        fabric, paths, senders, {.vcs = 2 * paths.class_count(), .buffer = 16}, 1, threads);
    Budget budget;
    Meter meter(budget);
    LoadMeasure found = measure_load(*network, senders, {}, meter);
    network->check();
    return found;
}

}  // namespace

TEST_CASE("every injection process has the requested mean rate") {
    for (const double load : {0.05, 0.3, 0.8})
        for (const std::uint32_t packet : {1U, 4U})
            for (const char* text : {"bernoulli", "poisson", "on-off", "on-off(length=20,peak=90)"}) {
                CAPTURE(text);
                CHECK(mean(count_packets(text, load, packet, 5, many)) ==
                      doctest::Approx(load / packet).epsilon(0.03));
            }
}

TEST_CASE("the variance of packet counts equals the theory of each injection process") {
    constexpr std::size_t window = 2000;
    CHECK(dispersion(count_packets("bernoulli", 0.3, 1, 3, many), window) ==
          doctest::Approx(0.7).epsilon(0.1));
    CHECK(dispersion(count_packets("poisson", 0.3, 1, 3, many), window) == doctest::Approx(1).epsilon(0.1));
    CHECK(dispersion(count_packets("on-off(length=50)", 0.3, 1, 3, many), window) ==
          doctest::Approx(markov_dispersion(0.3, 1, 50, 1)).epsilon(0.1));
    CHECK(dispersion(count_packets("on-off(length=50,peak=50)", 0.3, 4, 3, many), window) ==
          doctest::Approx(markov_dispersion(0.3, 4, 50, 0.5)).epsilon(0.1));
    CHECK(dispersion(count_packets("on-off(length=1)", 0.3, 1, 3, many), window) ==
          doctest::Approx(markov_dispersion(0.3, 1, 1, 1)).epsilon(0.1));
}

TEST_CASE("bursts and pauses have the given mean lengths") {
    const std::vector<int> made = count_packets("on-off(length=40)", 0.25, 1, 9, many);
    double bursts = 0, on = 0;
    for (std::size_t cycle = 1; cycle < made.size(); ++cycle) {
        bursts += made[cycle] > 0 && made[cycle - 1] == 0 ? 1 : 0;
        on += made[cycle];
    }
    CHECK(on / bursts == doctest::Approx(40).epsilon(0.03));
    CHECK((static_cast<double>(many) - on) / bursts == doctest::Approx(120).epsilon(0.03));
}

TEST_CASE("with bursts but without pauses, sources send at the peak rate") {
    CHECK(count_packets("on-off(length=3)", 1, 1, 2, 1000) == count_packets("bernoulli", 1, 1, 2, 1000));
}

TEST_CASE("with a window of unanswered packets, one window is sent per round trip") {
    const Machine machine = make_machine("torus:8");
    const double alone = measure_injection(machine, "closed(window=1)", 0.001, 1).latency_mean;
    for (const int window : {1, 2}) {
        const LoadMeasure found =
            measure_injection(machine, "closed(window=" + std::to_string(window) + ")", 1, 1);
        CHECK(found.latency_mean == doctest::Approx(alone).epsilon(0.02));
        CHECK(found.accepted == doctest::Approx(window / (2 * alone)).epsilon(0.02));
        CHECK(found.saturated);
    }
}

TEST_CASE("a window that is never full adds replies but changes nothing else") {
    const LoadMeasure found =
        measure_injection(make_machine("torus:8"), "closed(window=1000,reply=2)", 0.1, 4);
    CHECK(found.accepted == doctest::Approx(0.1).epsilon(0.02));
    CHECK_FALSE(found.saturated);
    CHECK(found.offered == 0.1);
}

TEST_CASE("the window limits waiting packets, and threads do not change the result" *
          doctest::test_suite("threads")) {
    const Machine machine = make_machine("torus:4x4");
    const LoadMeasure one = measure_injection(machine, "closed(window=4)", 1, 4, 1, "uniform");
    const LoadMeasure two = measure_injection(machine, "closed(window=4)", 1, 4, 2, "uniform");
    CHECK(one.latency_p99 < 1000);
    CHECK(one.latency_mean == two.latency_mean);
    CHECK(one.by_latency == two.by_latency);
    CHECK(one.by_source == two.by_source);
    // Little's law: rate times latency equals the number of packets without a reply, which is the window.
    CHECK(one.accepted / 4 * 2 * one.latency_mean == doctest::Approx(4).epsilon(0.02));
}

TEST_CASE("unknown or unsuitable injections are refused with a one-line error") {
    const auto refused = [](const std::string& text, double load, const std::string& why) {
        CHECK_THROWS_WITH_AS(PacketSource(Injection(text), load, 1, 1, 0), doctest::Contains(why.c_str()),
                             Error);
    };
    refused("bernouli", 0.1, "bernoulli");
    refused("on-off(length=0)", 0.1, "length");
    refused("closed(window=0)", 0.1, "window");
    refused("on-off(peak=20)", 0.3, "raise their peak");
    refused("on-off(length=2)", 0.9, "make them longer");
    refused("poisson", 0, "above 0");
    refused("poisson(rate=1)", 0.1, "rate");
    const MulticastSets sets("multicast(fanout=2)", 8, 1);
    CHECK_THROWS_WITH_AS(MulticastLoad(sets, 8, 1, 0.1, 1, Injection("closed")),
                         doctest::Contains("have no replies"), Error);
}
