// SPDX-License-Identifier: BSD-3-Clause
// Bandwidth of messages on ring buses, sent as pieces that wait for a free ring.
#include <doctest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/metric/bus_elements.hpp"
#include "topoloom/metric/bus_time.hpp"

using namespace topoloom;

namespace {

constexpr std::int64_t kib = 1024;
constexpr double ring_rate = 25.6e9;

const Machine& cell_bus() {
    static const Machine machine = make_machine("ring:12,rings=2,transfers=3,bandwidth=25.6GB/s");
    return machine;
}

BusRates rates_on(const Machine& machine, const std::vector<BusMessage>& messages, BusTiming timing = {}) {
    return bus_rates(std::get<RingBus>(machine.topology()), messages, timing);
}

BusMessage make_message(std::uint32_t from, std::uint32_t to, std::int64_t bytes = 64 * kib) {
    return {Node{from}, Node{to}, Bytes{bytes}};
}

/// Random messages of any size between different stations of a bus.
std::vector<BusMessage> random_messages(std::uint32_t stations, Rng& rng) {
    std::vector<BusMessage> messages;
    for (std::size_t i = 0; i < 1 + rng.below(7); ++i) {
        const auto from = static_cast<std::uint32_t>(rng.below(stations));
        const auto to = static_cast<std::uint32_t>((from + 1 + rng.below(stations - 1)) % stations);
        messages.push_back(make_message(from, to, static_cast<std::int64_t>(1 + rng.below(100'000))));
    }
    return messages;
}

}  // namespace

TEST_CASE("no message is faster than a ring allows, and no station faster than its port") {
    Rng rng(1);
    for (const std::string text : {"ring:12,rings=2,transfers=3,bandwidth=25.6GB/s",
                                   "ring:5,transfers=1,bandwidth=25.6GB/s", "ring:8,bandwidth=25.6GB/s"}) {
        const Machine machine = make_machine(text);
        for (int trial = 0; trial < 30; ++trial) {
            const auto messages = random_messages(static_cast<std::uint32_t>(machine.node_count()), rng);
            const BusRates found = rates_on(machine, messages);
            std::vector<double> sent(machine.node_count(), 0);
            double last = 0;
            for (std::size_t i = 0; i < messages.size(); ++i) {
                const auto& [worst, mean, best] = found.of_message[i];
                CHECK(worst <= mean);
                CHECK(mean.value <= best.value * (1 + 1e-12));
                CHECK(best.value <= ring_rate * (1 + 1e-12));
                CHECK(found.slowest.worst <= worst);
                const auto bytes = static_cast<double>(messages[i].bytes.value);
                if (messages[i].bytes >= BusTiming{}.piece) sent[messages[i].from.value] += bytes;
                last = std::max(last, bytes / worst.value);
            }
            for (const double bytes : sent) CHECK(bytes / ring_rate <= last * (1 + 1e-12));
        }
    }
}

TEST_CASE("rotating or mirroring all messages on a bus does not change their rates") {
    Rng rng(2);
    for (int trial = 0; trial < 20; ++trial) {
        const auto messages = random_messages(12, rng);
        const BusRates found = rates_on(cell_bus(), messages);
        auto turned = messages;
        auto mirrored = messages;
        for (BusMessage& each : turned)
            each = {Node{(each.from.value + 5) % 12}, Node{(each.to.value + 5) % 12}, each.bytes};
        for (BusMessage& each : mirrored)
            each = {Node{11 - each.from.value}, Node{11 - each.to.value}, each.bytes};
        for (const auto& same : {turned, mirrored}) {
            const BusRates again = rates_on(cell_bus(), same);
            for (std::size_t i = 0; i < messages.size(); ++i) {
                CHECK(again.of_message[i].worst == found.of_message[i].worst);
                CHECK(again.of_message[i].best == found.of_message[i].best);
            }
        }
    }
}

TEST_CASE("two overlapping messages in one direction run at full speed, and a third waits") {
    const std::vector<BusMessage> three{make_message(0, 4), make_message(1, 5), make_message(2, 6)};
    const std::vector<BusMessage> two(three.begin(), three.end() - 1);
    CHECK(rates_on(cell_bus(), two).slowest.worst.value == doctest::Approx(ring_rate));
    // 12 pieces, two at a time.
    CHECK(rates_on(cell_bus(), three).slowest.worst.value == doctest::Approx(ring_rate * 4 / 6));
    const auto other_way = [](BusMessage m) { return BusMessage{m.to, m.from, m.bytes}; };
    CHECK(rates_on(cell_bus(), {three[0], three[1], other_way(three[2])}).slowest.worst.value ==
          doctest::Approx(ring_rate));
}

TEST_CASE("a ring carries as many concurrent transfers as the machine text states") {
    std::vector<BusMessage> around;
    for (std::uint32_t i = 0; i < 12; ++i) around.push_back(make_message(i, (i + 1) % 12));
    for (const std::uint32_t transfers : {1U, 2U, 3U, 4U, 6U, 12U}) {
        for (const std::uint32_t rings : {1U, 2U}) {
            const Machine machine = make_machine("ring:12,bandwidth=25.6GB/s,rings=" + std::to_string(rings) +
                                                 ",transfers=" + std::to_string(transfers));
            const std::uint32_t at_once = std::min(12U, rings * transfers);
            CHECK(rates_on(machine, around).slowest.worst.value ==
                  doctest::Approx(ring_rate * 4 / (48 / at_once)));
        }
    }
    const Machine unlimited = make_machine("ring:12,bandwidth=25.6GB/s");
    CHECK(rates_on(unlimited, around).slowest.worst.value == doctest::Approx(ring_rate));
}

TEST_CASE("messages shorter than a piece neither wait nor delay others") {
    std::vector<BusMessage> small;
    for (std::uint32_t i = 0; i < 4; ++i) small.push_back(make_message(i, i + 5, 16 * kib - 1));
    CHECK(rates_on(cell_bus(), small).slowest.worst.value == doctest::Approx(ring_rate));
    auto large = small;
    for (BusMessage& each : large) each.bytes = Bytes{16 * kib};
    CHECK(rates_on(cell_bus(), large).slowest.worst.value == doctest::Approx(ring_rate / 2));
    auto mixed = small;
    mixed.push_back(make_message(0, 5));
    CHECK(rates_on(cell_bus(), mixed).of_message.back().worst.value == doctest::Approx(ring_rate));
}

TEST_CASE("messages of unequal sizes wait only for each other's pieces") {
    // Pieces of both messages alternate on one ring. After its second piece the small message ends, and the
    // large one has the ring to itself.
    const Machine machine = make_machine("ring:8,bandwidth=25.6GB/s");
    const BusRates found = rates_on(machine, {make_message(0, 3, 32 * kib), make_message(1, 4, 96 * kib)});
    CHECK(found.of_message[0].worst.value == doctest::Approx(ring_rate * 2 / 3));
    CHECK(found.of_message[1].worst.value == doctest::Approx(ring_rate * 6 / 8));
}

TEST_CASE("half-way messages may take either direction") {
    // Four messages that would overlap if all went clockwise.
    const BusRates found = rates_on(
        cell_bus(), {make_message(0, 6), make_message(1, 7), make_message(2, 8), make_message(3, 9)});
    CHECK(found.ways == 16);
    CHECK(found.slowest.worst.value == doctest::Approx(ring_rate / 2));
    CHECK(found.slowest.best.value == doctest::Approx(ring_rate));
    CHECK(found.slowest.worst < found.slowest.mean);
    CHECK(found.slowest.mean < found.slowest.best);
    CHECK(rates_on(cell_bus(), {make_message(0, 5)}).ways == 1);
    const Machine decided = make_machine("ring:12,ties=plus,bandwidth=25.6GB/s");
    CHECK(rates_on(decided, {make_message(0, 6)}).ways == 1);
}

TEST_CASE("the memory controller handles one piece at a time, so eight elements get less than 4 GB/s") {
    std::vector<BusMessage> reads;
    for (const Node element : cell_elements) reads.push_back({cell_memory, element, Bytes{128 * kib}});
    BusTiming timing;
    timing.memory = cell_memory;
    const double all = rates_on(cell_bus(), reads, timing).slowest.worst.value;
    CHECK(all == doctest::Approx(ring_rate / 8));
    CHECK(all < 4e9);
    // Half of the elements write. The limit is for both directions together.
    for (std::size_t i = 0; i < 4; ++i) std::swap(reads[i].from, reads[i].to);
    CHECK(rates_on(cell_bus(), reads, timing).slowest.worst.value == doctest::Approx(ring_rate / 8));
    CHECK(rates_on(cell_bus(), reads).slowest.worst.value == doctest::Approx(ring_rate / 4));
}

TEST_CASE("three equal messages across an end of the bus may slow down, unequal ones do not") {
    // One ring each way; two of the three messages cross an end, over two links.
    const Machine machine = make_machine("ring:12,transfers=3,bandwidth=25.6GB/s");
    std::vector<BusMessage> messages{make_message(11, 1), make_message(4, 6), make_message(8, 10)};
    BusTiming observed;
    observed.ring_ends = true;
    CHECK(rates_on(machine, messages).slowest.worst.value == doctest::Approx(ring_rate));
    CHECK(rates_on(machine, messages, observed).slowest.worst.value < 0.7 * ring_rate);
    messages[2].bytes = Bytes{48 * kib};
    CHECK(rates_on(machine, messages, observed).slowest.worst.value == doctest::Approx(ring_rate));
}

TEST_CASE("each message counts one startup") {
    BusTiming timing;
    timing.startup = Seconds{1e-7};
    const double seconds = 1e-7 + 4096 / ring_rate;
    CHECK(rates_on(cell_bus(), {make_message(0, 1, 4096)}, timing).slowest.worst.value ==
          doctest::Approx(4096 / seconds));
}

TEST_CASE("invalid messages are refused") {
    CHECK_THROWS_AS((void)rates_on(cell_bus(), {make_message(3, 3)}), Error);
    CHECK_THROWS_AS((void)rates_on(cell_bus(), {make_message(0, 12)}), Error);
    CHECK_THROWS_AS((void)rates_on(cell_bus(), {make_message(0, 1, 0)}), Error);
    CHECK_THROWS_AS((void)rates_on(cell_bus(), {make_message(0, 1, std::int64_t{1} << 40)}), Error);
    CHECK_THROWS_AS((void)rates_on(cell_bus(), std::vector<BusMessage>(13, make_message(0, 6))), Error);
    CHECK_THROWS_AS((void)rates_on(make_machine("ring:65"), {make_message(0, 1)}), Error);
}

TEST_CASE("elements have their names on the Cell's own bus, and are the allocated slots on other buses") {
    CHECK(find_element_stations(Allocation::whole(cell_bus())) == cell_elements);
    const Machine eight = make_machine("ring:8");
    for (std::uint32_t i = 0; i < 8; ++i)
        CHECK(find_element_stations(Allocation::whole(eight))[i] == Node{i});
    CHECK_THROWS_AS((void)find_element_stations(Allocation::whole(make_machine("ring:10"))), Error);
    CHECK_THROWS_AS((void)find_element_stations(Allocation::whole(make_machine("torus:8"))), Error);
    for (const NamedAffinity& affinity : named_affinities()) {
        BusAffinity sorted = affinity.element_of_thread;
        std::ranges::sort(sorted);
        CHECK(std::ranges::equal(sorted, std::array{0, 1, 2, 3, 4, 5, 6, 7}));
    }
}
