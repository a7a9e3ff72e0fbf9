// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/bound/bus_affinity.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

constexpr std::size_t threads = 8;
constexpr std::size_t max_links = 24;
constexpr std::size_t lanes = 32;

/// What a message puts on the links, in halves; one byte per link, so that a few instructions add all of them.
struct Arc {
    alignas(lanes) std::array<std::uint8_t, lanes> load{};
    std::int32_t clockwise = 0;  // 1, or -1 for the other direction, or 0 for both
};

Arc arc_between(const RingBus& bus, Node from, Node to) {
    Arc arc;
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
};

BusScore score(const std::array<Arc, threads * threads>& arcs, std::span<const Message> messages,
               const BusAffinity& element) {
    alignas(lanes) std::array<std::uint8_t, lanes> load{};
    BusScore score;
    for (const Message& message : messages) {
        const Arc& arc = arcs[element[message.from] * threads + element[message.to]];
        for (std::size_t l = 0; l < lanes; ++l) load[l] = static_cast<std::uint8_t>(load[l] + arc.load[l]);
        score.imbalance += 2 * arc.clockwise;
        score.half_way += arc.clockwise == 0 ? 2 : 0;
    }
    for (const std::uint8_t halves : load) {
        score.peak = std::max<std::int32_t>(score.peak, halves);
        score.excess += std::max(0, halves - 4);
    }
    score.imbalance = std::abs(score.imbalance);
    return score;
}

}  // namespace

BusAffinities rank_bus_affinities(const RingBus& bus, std::span<const Node> station,
                                  const CommGraph& pattern) {
    if (station.size() != threads || pattern.rank_count() != threads)
        fail("all assignments are those of 8 threads to 8 elements, not of ", pattern.rank_count(), " to ",
             station.size());
    if (bus.link_count() > max_links)
        fail("a bus of ", bus.node_count(), " stations is too large; at most 12");
    std::array<Arc, threads * threads> arcs;
    for (std::size_t a = 0; a < threads; ++a) {
        for (std::size_t b = 0; b < threads; ++b) {
            if (a != b) arcs[a * threads + b] = arc_between(bus, station[a], station[b]);
        }
    }
    std::vector<Message> messages;
    for (const Rank u : ids<Rank>(threads)) {
        for (const Rank v : pattern.peers(u))
            messages.push_back({static_cast<std::uint8_t>(u.value), static_cast<std::uint8_t>(v.value)});
    }
    BusAffinities result;
    result.ranking.reserve(40'320);
    BusAffinity element;
    std::iota(element.begin(), element.end(), std::uint8_t{0});
    do {
        result.ranking.push_back({score(arcs, messages, element), element});
    } while (std::ranges::next_permutation(element).found);
    std::ranges::stable_sort(result.ranking, {}, &RankedAffinity::score);
    const auto last =
        std::ranges::upper_bound(result.ranking, result.ranking.front().score, {}, &RankedAffinity::score);
    result.optima = static_cast<std::size_t>(last - result.ranking.begin());
    return result;
}

Bipartitions rank_bipartitions(const CommGraph& pattern) {
    const auto count = static_cast<std::uint32_t>(pattern.rank_count());
    if (count == 0 || count % 2 != 0 || count > 24)
        fail("halves are those of 2, 4 ... 24 threads, not of ", count);
    struct Volume {
        std::uint32_t from, to;
        std::int64_t bytes;
    };
    std::vector<Volume> volumes;
    for (const Rank u : ids<Rank>(count)) {
        for (const Edge edge : pattern.sends(u))
            volumes.push_back({u.value, edge.peer.value, edge.bytes.value});
    }
    // Sent by the set, and to it.
    const auto crossing = [&](std::uint32_t set) {
        std::pair<std::int64_t, std::int64_t> bytes;
        for (const Volume& volume : volumes) {
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
        // The next set of as many bits (Gosper, HAKMEM 175).
        const std::uint32_t low = set & (0U - set);
        const std::uint32_t ripple = set + low;
        set = ripple | ((set ^ ripple) >> (2 + std::countr_zero(low)));
    }
}

}  // namespace topoloom
