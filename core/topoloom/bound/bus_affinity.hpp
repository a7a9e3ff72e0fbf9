// SPDX-License-Identifier: BSD-3-Clause
// Evaluates all assignments of threads to the processing elements of a ring bus.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/unit.hpp"
#include "topoloom/machine/topologies/ring_bus.hpp"
#include "topoloom/metric/bus_elements.hpp"
#include "topoloom/metric/bus_time.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// How the messages of an assignment share a ring bus; less is better (Sudheer 2012, section 4.6): first what the
/// busiest link carries, then how far the two directions differ, then what exceeds two messages on links, then how many
/// go half-way around. In halves of units, as half-way messages count half in each direction; a unit is the largest
/// size that divides those of all messages. The source counts messages; of one size, all are a unit each.
struct BusScore {
    std::int64_t peak = 0;
    std::int64_t imbalance = 0;
    std::int64_t excess = 0;  // over two of the largest messages
    std::int64_t half_way = 0;
    friend auto operator<=>(const BusScore&, const BusScore&) = default;
};

struct RankedAffinity {
    BusScore score;
    BusAffinity element_of_thread;
};

struct BusAffinities {
    /// All 8! assignments, best first; ties in permutation order.
    std::vector<RankedAffinity> ranking;
    std::size_t optima = 0;  // assignments as good as the first
    Bytes unit{1};           // of the scores
};

/// `station`: bus stations of the eight elements. The pattern has eight ranks; each edge is one message. Ranks all
/// 40,320 assignments, since the other stations break the symmetry of the bus. Throws Error for other counts.
[[nodiscard]] BusAffinities rank_bus_affinities(const RingBus& bus, std::span<const Node> station,
                                                const CommGraph& pattern);

/// Rates of the slowest message and of all messages on average.
struct AffinityRate {
    BusRate slowest, average;
};

/// Rates of each assignment; ignores edges without bytes. Throws Error as bus_rates() does.
[[nodiscard]] std::vector<AffinityRate> affinity_rates(const RingBus& bus, std::span<const Node> station,
                                                       const CommGraph& pattern,
                                                       std::span<const RankedAffinity> ranking,
                                                       const BusTiming& timing);

/// Threads on the two processors of a blade; bit t is set for those on processor 0.
struct Bipartition {
    std::uint32_t on_first = 0;
    Bytes crossing;
};

struct Bipartitions {
    Bipartition best;  // of its two sides, the one that sends more to the other is on processor 0
    Bipartition worst;
    std::size_t optima = 0;  // sets that are as good as the best, counting both directions
    std::size_t pessima = 0;
};

/// Ranks all balanced bipartitions of an even number of up to 24 threads by the bytes between processors. Throws
/// Error for other counts.
[[nodiscard]] Bipartitions rank_bipartitions(const CommGraph& pattern);

}  // namespace topoloom
