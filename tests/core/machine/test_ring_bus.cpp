// SPDX-License-Identifier: BSD-3-Clause
// Ring buses; the Cell processor compared with the counts derived from Sudheer 2012, section 4.4.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "machine/machine_queries.hpp"
#include "machine/machine_texts.hpp"

using namespace topoloom;

namespace {

using Names = std::vector<std::string>;

constexpr const char* cell = "ring:12,rings=2,transfers=3,bandwidth=25.6GB/s";

/// Clockwise: PPE, SPE 1, 3, 5, 7, I/O 1, BIF, SPE 6, 4, 2, 0, memory.
constexpr std::array<std::uint32_t, 8> station_of_spe{10, 1, 9, 2, 8, 3, 7, 4};

using Pattern = std::vector<std::pair<std::size_t, std::size_t>>;  // sender, receiver
using Affinity = std::array<std::size_t, 8>;                       // SPE of each thread

template <class Message>
Pattern make_pattern(std::size_t messages, const Message& message) {
    Pattern pairs;
    for (std::size_t i = 0; i < messages; ++i) pairs.push_back(message(i));
    return pairs;
}

/// Affinities by name, in the order of the source.
std::vector<std::pair<std::string, Pattern>> named_patterns() {
    return {
        {"Ring", make_pattern(8, [](std::size_t i) { return std::pair(i, (i + 1) % 8); })},
        {"Recursive doubling 1", make_pattern(8, [](std::size_t i) { return std::pair(i, i ^ 1); })},
        {"Recursive doubling 2", make_pattern(8, [](std::size_t i) { return std::pair(i, i ^ 2); })},
        {"Recursive doubling 3", make_pattern(8, [](std::size_t i) { return std::pair(i, i ^ 4); })},
        {"Bruck 2", make_pattern(8, [](std::size_t i) { return std::pair((i + 2) % 8, i); })},
        {"Binomial tree 3", make_pattern(4, [](std::size_t i) { return std::pair(2 * i, 2 * i + 1); })},
    };
}

const std::vector<std::pair<std::string, Affinity>> affinities{
    {"Identity", {0, 1, 2, 3, 4, 5, 6, 7}}, {"Ring", {0, 7, 1, 6, 2, 5, 3, 4}},
    {"Overlap", {0, 7, 2, 5, 4, 3, 6, 1}},  {"EvenOdd", {0, 4, 2, 6, 1, 5, 3, 7}},
    {"Leap2", {0, 4, 7, 3, 1, 5, 6, 2}},
};

std::array<Node, 8> stations_of_threads(const Affinity& affinity) {
    std::array<Node, 8> station;
    for (std::size_t spe = 0; spe < 8; ++spe) station[affinity[spe]] = Node{station_of_spe[spe]};
    return station;
}

/// Numbers of clockwise, counter-clockwise and half-way messages, and for each direction the number of pairs
/// of messages that share a link.
using Counts = std::array<int, 5>;

template <class T>
Counts count_messages(const T& bus, const Pattern& messages, const Affinity& affinity) {
    const auto station = stations_of_threads(affinity);
    Counts counts{};
    std::array<std::vector<std::vector<Link>>, 2> routes;  // by direction
    for (const auto& [sender, receiver] : messages) {
        std::vector<Link> links;
        double min_share = 1;
        bus.route(station[sender], station[receiver], [&](Link link, double share) {
            links.push_back(link);
            min_share = std::min(min_share, share);
        });
        if (min_share == 0.5) {
            ++counts[2];
            continue;
        }
        const LinkEnds first = bus.ends(links.front());
        const std::size_t direction = (first.from + 1) % 12 == first.to ? 0 : 1;
        ++counts[direction];
        for (const auto& other : routes[direction]) {
            if (std::ranges::find_first_of(links, other) != links.end()) ++counts[3 + direction];
        }
        routes[direction].push_back(links);
    }
    return counts;
}

/// Load of each link, clockwise links first.
using RingLoads = std::array<double, 24>;

/// Score of an affinity; less is better: maximum load of a link, difference between the directions, sum of
/// loads above 2, half-way messages.
using Score = std::tuple<double, double, double, double>;

struct ArcLoads {
    RingLoads loads{};
    double half_way = 0;
};

Score compute_score(const Pattern& messages, const std::array<Node, 8>& station,
                    const std::vector<std::vector<ArcLoads>>& arcs) {
    RingLoads loads{};
    double half_way = 0;
    double clockwise = 0;
    for (const auto& [sender, receiver] : messages) {
        const ArcLoads& arc = arcs[station[sender].value][station[receiver].value];
        for (std::size_t i = 0; i < 24; ++i) loads[i] += arc.loads[i];
        half_way += arc.half_way;
        const bool is_clockwise =
            std::any_of(arc.loads.begin(), arc.loads.begin() + 12, [](double x) { return x == 1; });
        if (arc.half_way == 0) clockwise += is_clockwise ? 1 : -1;
    }
    double excess = 0;
    for (const double load : loads) excess += std::max(0.0, load - 2);
    return {*std::ranges::max_element(loads), std::abs(clockwise), excess, half_way};
}

}  // namespace

TEST_CASE("messages on a ring bus take the shorter arc, and half-way messages are split over both arcs") {
    const Machine machine = make_machine("ring:6");
    CHECK(route_names(machine, Node{4}, Node{0}) == Names{"station 4 clockwise", "station 5 clockwise"});
    CHECK(route_names(machine, Node{1}, Node{5}) ==
          Names{"station 1 counter-clockwise", "station 0 counter-clockwise"});
    std::map<std::string, double> shares;
    with_topology(machine, [&](const auto& t) {
        t.route(Node{1}, Node{4}, [&](Link link, double share) { shares[t.link_name(link)] += share; });
    });
    CHECK(shares == std::map<std::string, double>{{"station 1 clockwise", 0.5},
                                                  {"station 2 clockwise", 0.5},
                                                  {"station 3 clockwise", 0.5},
                                                  {"station 1 counter-clockwise", 0.5},
                                                  {"station 0 counter-clockwise", 0.5},
                                                  {"station 5 counter-clockwise", 0.5}});
    CHECK(route_names(make_machine("ring:6,ties=plus"), Node{1}, Node{4}) ==
          Names{"station 1 clockwise", "station 2 clockwise", "station 3 clockwise"});
}

TEST_CASE("rings of the same direction form one link with their total bandwidth") {
    with_topology(make_machine(cell), [](const auto& bus) {
        CHECK(bus.link_count() == 24);
        for (const Link link : ids<Link>(24)) CHECK(bus.bandwidth(link).value == 2 * 25.6e9);
    });
    CHECK(make_machine(cell).describe() ==
          "ring bus of 12 stations, 2 rings in each direction, 3 transfers a ring");
    CHECK(make_machine("ring:8").describe() == "ring bus of 8 stations");
}

TEST_CASE("alltoall loads every link of a ring bus equally") {
    // Each station sends over arcs of 1, 2, ... links in either direction. With an even number n of stations,
    // half a message goes over n / 2 links in each direction.
    for (const std::uint32_t n : {2U, 3U, 7U, 8U, 12U}) {
        double load = 0;
        for (std::uint32_t length = 1; 2 * length < n; ++length) load += length;
        if (n % 2 == 0) load += n / 4.0;
        with_topology(make_machine("ring:" + std::to_string(n)), [&](const auto& bus) {
            for (const double found : alltoall_loads(bus)) CHECK(found == load);
        });
    }
}

TEST_CASE(
    "affinities on the Cell's bus have the published directions and overlaps of Sudheer 2012, section 4.4") {
    const std::vector<std::pair<std::string, std::array<Counts, 5>>> published{
        {"Ring", {{{3, 3, 2, 1, 1}, {0, 8, 0, 0, 0}, {3, 1, 4, 3, 0}, {3, 3, 2, 1, 1}, {4, 4, 0, 0, 0}}}},
        {"Recursive doubling 1",
         {{{4, 4, 0, 2, 2}, {4, 4, 0, 0, 0}, {0, 0, 8, 0, 0}, {4, 4, 0, 2, 2}, {4, 4, 0, 2, 2}}}},
        {"Recursive doubling 2",
         {{{4, 4, 0, 0, 0}, {4, 4, 0, 2, 2}, {4, 4, 0, 0, 0}, {4, 4, 0, 0, 0}, {0, 0, 8, 0, 0}}}},
        {"Recursive doubling 3",
         {{{4, 4, 0, 2, 2}, {0, 0, 8, 0, 0}, {4, 4, 0, 2, 2}, {4, 4, 0, 2, 2}, {4, 4, 0, 2, 2}}}},
        {"Bruck 2", {{{4, 4, 0, 0, 0}, {8, 0, 0, 8, 0}, {6, 2, 0, 0, 0}, {4, 4, 0, 0, 0}, {2, 2, 4, 0, 0}}}},
        {"Binomial tree 3",
         {{{2, 2, 0, 1, 1}, {0, 4, 0, 0, 0}, {0, 0, 4, 0, 0}, {2, 2, 0, 1, 1}, {2, 2, 0, 0, 0}}}},
    };
    with_topology(make_machine(cell), [&](const auto& bus) {
        const auto all = named_patterns();
        for (std::size_t p = 0; p < all.size(); ++p) {
            REQUIRE(published[p].first == all[p].first);
            for (std::size_t a = 0; a < affinities.size(); ++a) {
                CAPTURE(all[p].first);
                CAPTURE(affinities[a].first);
                CHECK(count_messages(bus, all[p].second, affinities[a].second) == published[p].second[a]);
            }
        }
    });
}

TEST_CASE("the number of best affinities of the Cell is as in Sudheer 2012, section 4.6") {
    std::vector<std::vector<ArcLoads>> arcs(12, std::vector<ArcLoads>(12));
    with_topology(make_machine(cell), [&](const auto& bus) {
        for (const Node a : ids<Node>(12)) {
            for (const Node b : ids<Node>(12)) {
                ArcLoads& arc = arcs[a.value][b.value];
                bus.route(a, b, [&](Link link, double share) {
                    const LinkEnds ends = bus.ends(link);
                    const bool clockwise = (ends.from + 1) % 12 == ends.to;
                    arc.loads[(clockwise ? 0 : 12) + ends.from] += share;
                    if (share == 0.5) arc.half_way = 1;
                });
            }
        }
    });
    const std::vector<int> expected{896, 768, 768, 768, 1728, 4224};
    const auto all = named_patterns();
    for (std::size_t p = 0; p < all.size(); ++p) {
        CAPTURE(all[p].first);
        std::map<Score, int> count;
        Affinity affinity;
        std::iota(affinity.begin(), affinity.end(), std::size_t{0});
        do {
            ++count[compute_score(all[p].second, stations_of_threads(affinity), arcs)];
        } while (std::ranges::next_permutation(affinity).found);
        const auto& [best, times] = *count.begin();
        CHECK(std::get<0>(best) == 1);
        CHECK(std::get<3>(best) == 0);
        CHECK(times == expected[p]);
    }
}

TEST_CASE("an invalid ring bus is refused") {
    const std::vector<std::pair<std::string, std::string>> bad{
        {"ring:0", "machine 'ring:0': a ring bus has 1 to 16384 stations, not 0"},
        {"ring:20000", "machine 'ring:20000': a ring bus has 1 to 16384 stations, not 20000"},
        {"ring:8,rings=0", "machine 'ring:8,rings=0': a ring bus needs at least 1 ring in each direction"},
        {"ring:8x8", "cannot read machine 'ring:8x8': expected a number at column 6"},
        {"ring:8,transfers=0",
         "cannot read machine 'ring:8,transfers=0': a ring holds at least 1 transfer; at column 18"},
        {"ring:8,ties=minus", "cannot read machine 'ring:8,ties=minus': expected split or plus at column 13"},
        {"ring:8,nodes=2",
         "cannot read machine 'ring:8,nodes=2': no option of ring 'nodes'; there are: rings, transfers, "
         "ties, "
         "bandwidth, latency; at column 8"},
    };
    for (const auto& [text, reason] : bad) CHECK(error_message_of(text) == reason);
}
