// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/bound/bus_affinity.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

constexpr std::size_t threads = bus_elements;
constexpr std::size_t max_links = 24;
constexpr std::size_t lanes = 32;
constexpr std::int64_t max_halves = std::numeric_limits<std::int64_t>::max() / 4;

/// Links that a message uses, in half messages.
struct BusPath {
    alignas(lanes) std::array<std::uint8_t, lanes> load{};
    std::int32_t clockwise = 0;  // 1 for clockwise, -1 for counter-clockwise, 0 if split over both
};

using BusPaths = std::array<BusPath, threads * threads>;

BusPath find_bus_path(const RingBus& bus, Node from, Node to) {
    BusPath arc;
    bus.route(from, to, [&](Link link, double share) {
        arc.load[link.value] = static_cast<std::uint8_t>(arc.load[link.value] + (share < 1 ? 1 : 2));
        const LinkEnds ends = bus.ends(link);
        const bool clockwise = (ends.from + 1) % bus.node_count() == ends.to;
        arc.clockwise = share < 1 ? 0 : clockwise ? 1 : -1;
    });
    return arc;
}

struct Message {
    std::uint8_t from, to;
    std::int64_t units;
};

/// Load must be wide enough to count the half messages on any link. With one-byte loads, a few instructions
/// add the loads of all links.
template <class Load>
BusScore score_affinity(const BusPaths& arcs, std::span<const Message> messages, std::int64_t largest,
                        const BusAffinity& element) {
    alignas(lanes) std::array<Load, lanes> load{};
    BusScore score;
    for (const Message& message : messages) {
        const BusPath& arc = arcs[element[message.from] * threads + element[message.to]];
        const auto units = static_cast<Load>(message.units);
        for (std::size_t l = 0; l < lanes; ++l)
            load[l] = static_cast<Load>(load[l] + static_cast<Load>(arc.load[l]) * units);
        score.imbalance += 2 * arc.clockwise * message.units;
        score.half_way += arc.clockwise == 0 ? 2 * message.units : 0;
    }
    for (const Load found : load) {
        const auto halves = static_cast<std::int64_t>(found);
        score.peak = std::max(score.peak, halves);
        score.excess += std::max<std::int64_t>(0, halves - 4 * largest);
    }
    score.imbalance = std::abs(score.imbalance);
    return score;
}

}  // namespace

BusAffinities rank_bus_affinities(const RingBus& bus, std::span<const Node> station,
                                  const CommGraph& pattern) {
    if (station.size() != threads || pattern.rank_count() != threads)
        fail("an enumeration of assignments needs 8 threads and 8 elements, not ", pattern.rank_count(),
             " and ", station.size());
    if (bus.link_count() > max_links)
        fail("a bus of ", bus.node_count(), " stations is too large; at most 12");
    BusPaths arcs;
    for (std::size_t a = 0; a < threads; ++a) {
        for (std::size_t b = 0; b < threads; ++b) {
            if (a != b) arcs[a * threads + b] = find_bus_path(bus, station[a], station[b]);
        }
    }
    std::vector<Message> messages;
    std::int64_t unit = 0;
    for (const Rank u : ids<Rank>(threads)) {
        for (const Edge edge : pattern.sends(u)) {
            if (edge.bytes == Bytes{0}) continue;
            messages.push_back({static_cast<std::uint8_t>(u.value),
                                static_cast<std::uint8_t>(edge.peer.value), edge.bytes.value});
            unit = std::gcd(unit, edge.bytes.value);
        }
    }
    std::int64_t largest = 0;
    std::int64_t halves = 0;
    for (Message& message : messages) {
        message.units /= unit;
        largest = std::max(largest, message.units);
        if (message.units > (max_halves / static_cast<std::int64_t>(max_links) - halves) / 2)
            fail("the sum of message sizes is too large; give smaller messages");
        halves += 2 * message.units;
    }
    const bool few = halves <= std::numeric_limits<std::uint8_t>::max();
    BusAffinities result;
    result.unit = Bytes{std::max<std::int64_t>(unit, 1)};
    result.ranking.reserve(40'320);
    BusAffinity element;
    std::iota(element.begin(), element.end(), std::uint8_t{0});
    do {
        const BusScore found = few ? score_affinity<std::uint8_t>(arcs, messages, largest, element)
                                   : score_affinity<std::int64_t>(arcs, messages, largest, element);
        result.ranking.push_back({found, element});
    } while (std::ranges::next_permutation(element).found);
    std::ranges::stable_sort(result.ranking, {}, &RankedAffinity::score);
    const auto last =
        std::ranges::upper_bound(result.ranking, result.ranking.front().score, {}, &RankedAffinity::score);
    result.optima = static_cast<std::size_t>(last - result.ranking.begin());
    return result;
}

std::vector<AffinityRate> affinity_rates(const RingBus& bus, std::span<const Node> station,
                                         const CommGraph& pattern, std::span<const RankedAffinity> ranking,
                                         const BusTiming& timing) {
    std::vector<AffinityRate> rates;
    rates.reserve(ranking.size());
    std::vector<BusMessage> messages;
    for (const RankedAffinity& affinity : ranking) {
        messages.clear();
        const auto at = [&](Rank u) { return station[affinity.element_of_thread[u.value]]; };
        for (const Rank u : ids<Rank>(threads)) {
            for (const Edge edge : pattern.sends(u)) {
                if (edge.bytes > Bytes{0}) messages.push_back({at(u), at(edge.peer), edge.bytes});
            }
        }
        const BusRates found = bus_rates(bus, messages, timing);
        rates.push_back({found.slowest, found.average});
    }
    return rates;
}

Bipartitions rank_bipartitions(const CommGraph& pattern) {
    const auto count = static_cast<std::uint32_t>(pattern.rank_count());
    if (count == 0 || count % 2 != 0 || count > 24)
        fail("bipartitions require 2, 4, ... or 24 threads, not ", count);
    struct CutBytes {
        std::uint32_t from, to;
        std::int64_t bytes;
    };
    std::vector<CutBytes> volumes;
    for (const Rank u : ids<Rank>(count)) {
        for (const Edge edge : pattern.sends(u))
            volumes.push_back({u.value, edge.peer.value, edge.bytes.value});
    }
    // Bytes that the set sends and receives.
    const auto crossing = [&](std::uint32_t set) {
        std::pair<std::int64_t, std::int64_t> bytes;
        for (const CutBytes& volume : volumes) {
            const std::uint32_t from = set >> volume.from & 1;
            const std::uint32_t to = set >> volume.to & 1;
            bytes.first += from > to ? volume.bytes : 0;
            bytes.second += to > from ? volume.bytes : 0;
        }
        return bytes;
    };
    Bipartitions result;
    const std::uint32_t last = ((1U << count / 2) - 1) << count / 2;
    for (std::uint32_t set = (1U << count / 2) - 1;;) {
        const auto [sent, received] = crossing(set);
        const Bipartition found{sent >= received ? set : ~set & ((1U << count) - 1), Bytes{sent + received}};
        if (result.optima == 0 || found.crossing < result.best.crossing) {
            result.best = found;
            result.optima = 0;
        }
        if (result.pessima == 0 || found.crossing > result.worst.crossing) {
            result.worst = found;
            result.pessima = 0;
        }
        result.optima += found.crossing == result.best.crossing ? 1 : 0;
        result.pessima += found.crossing == result.worst.crossing ? 1 : 0;
        if (set == last) return result;
        // The next larger integer with the same number of one bits (Gosper, HAKMEM 175).
        const std::uint32_t low = set & (0U - set);
        const std::uint32_t ripple = set + low;
        set = ripple | ((set ^ ripple) >> (2 + std::countr_zero(low)));
    }
}

}  // namespace topoloom
