// SPDX-License-Identifier: BSD-3-Clause
// Affinities of the Cell and bipartitions of the blade, compared with the counts of Sudheer 2012, section
// 4.6.
#include <doctest.h>

#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/bound/bus_affinity.hpp"
#include "topoloom/machine/text/machine_text.hpp"

using namespace topoloom;

namespace {

CommGraph make_pattern(std::size_t threads, std::size_t messages,
                       const std::function<std::pair<std::size_t, std::size_t>(std::size_t)>& message) {
    std::vector<Rank> from;
    std::vector<Rank> to;
    for (std::size_t i = 0; i < messages; ++i) {
        from.emplace_back(message(i).first);
        to.emplace_back(message(i).second);
    }
    return CommGraph::from_edges(threads, from, to, std::vector<Bytes>(messages, Bytes{16384}));
}

CommGraph make_ring(std::size_t threads) {
    return make_pattern(threads, threads, [&](std::size_t i) { return std::pair(i, (i + 1) % threads); });
}

const Machine cell = make_machine("ring:12,rings=2,transfers=3,bandwidth=25.6GB/s");
/// Clockwise: PPE, SPE 1, 3, 5, 7, I/O 1, BIF, SPE 6, 4, 2, 0, memory.
const std::vector<Node> stations{Node{10}, Node{1}, Node{9}, Node{2}, Node{8}, Node{3}, Node{7}, Node{4}};

}  // namespace

TEST_CASE("the number of best affinities of the Cell equals the published count") {
    const auto& bus = std::get<RingBus>(cell.topology());
    const std::vector<std::pair<CommGraph, std::size_t>> cases{
        {make_ring(8), 896},
        {make_pattern(8, 8, [](std::size_t i) { return std::pair(i, i ^ 1); }), 768},
        {make_pattern(8, 8, [](std::size_t i) { return std::pair(i, i ^ 2); }), 768},
        {make_pattern(8, 8, [](std::size_t i) { return std::pair(i, i ^ 4); }), 768},
        {make_pattern(8, 8, [](std::size_t i) { return std::pair((i + 2) % 8, i); }), 1728},
        {make_pattern(8, 4, [](std::size_t i) { return std::pair(2 * i, 2 * i + 1); }), 4224},
    };
    for (const auto& [graph, optima] : cases) {
        const BusAffinities found = rank_bus_affinities(bus, stations, graph);
        CHECK(found.ranking.size() == 40'320);
        CHECK(found.optima == optima);
        CHECK(found.ranking.front().score.peak == 2);
        CHECK(found.ranking.front().score.half_way == 0);
        CHECK(found.ranking.front().score < found.ranking.back().score);
    }
}

TEST_CASE("an affinity's score counts link loads in half messages") {
    const auto& bus = std::get<RingBus>(cell.topology());
    const BusAffinities found = rank_bus_affinities(bus, stations, make_ring(8));
    const auto score_of = [&](const BusAffinity& element_of_thread) {
        for (const RankedAffinity& affinity : found.ranking) {
            if (affinity.element_of_thread == element_of_thread) return affinity.score;
        }
        return BusScore{};
    };
    // The affinity named Ring in the source sends all eight messages counter-clockwise without overlap.
    const BusScore all_one_way = score_of({0, 2, 4, 6, 7, 5, 3, 1});
    CHECK(all_one_way == BusScore{2, 16, 0, 0});
    // The identity has three messages and one overlap in each direction, and two half-way messages.
    const BusScore identity = score_of({0, 1, 2, 3, 4, 5, 6, 7});
    CHECK(identity.imbalance == 0);
    CHECK(identity.half_way == 4);
    CHECK(identity.peak == 4);
}

TEST_CASE("at best two messages of a ring of 16 threads cross between the blade's processors, at worst all" *
          doctest::test_suite("threads")) {
    const Bipartitions halves = rank_bipartitions(make_ring(16));
    CHECK(halves.best.crossing == Bytes{2 * 16384});
    CHECK(halves.optima == 16);
    CHECK(halves.worst.crossing == Bytes{16 * 16384});
    CHECK(halves.pessima == 2);
}

TEST_CASE("of the two sides of a bipartition, the one that sends more is on processor 0") {
    const CommGraph graph = make_pattern(4, 3, [](std::size_t i) {
        return std::vector<std::pair<std::size_t, std::size_t>>{{0, 1}, {2, 3}, {3, 1}}[i];
    });
    const Bipartitions halves = rank_bipartitions(graph);
    CHECK(halves.best.on_first == 0b1100);
    CHECK(halves.best.crossing == Bytes{16384});
    CHECK(halves.optima == 2);
}

TEST_CASE("unsupported numbers of threads are refused" * doctest::test_suite("threads")) {
    const auto& bus = std::get<RingBus>(cell.topology());
    CHECK_THROWS_AS((void)rank_bus_affinities(bus, stations, make_ring(7)), Error);
    CHECK_THROWS_AS((void)rank_bipartitions(make_ring(7)), Error);
    CHECK_THROWS_AS((void)rank_bipartitions(make_ring(26)), Error);
}
