// SPDX-License-Identifier: BSD-3-Clause
// Which thread on which processing element of a ring bus: all assignments, scored.
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
    /// All 8! of them, the best first; equals in the order of permutations.
    std::vector<RankedAffinity> ranking;
    std::size_t optima = 0;  // that are as good as the first
    Bytes unit{1};           // of the scores
};

/// `station` says where each of the eight elements is on the bus; the pattern has eight ranks, every edge of which is one
/// message. All 40,320, as the other stations on the bus break its symmetry. Throws Error for other numbers of them.
[[nodiscard]] BusAffinities rank_bus_affinities(const RingBus& bus, std::span<const Node> station,
                                                const CommGraph& pattern);

/// Of the slowest message, and over all messages.
struct AffinityRate {
    BusRate slowest, average;
};

/// For each of these assignments; edges without bytes count for nothing. Throws Error as bus_rates() does.
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

/// All halves of an even number of up to 24 threads, by the bytes that cross between the processors. Throws Error for
/// other numbers.
[[nodiscard]] Bipartitions rank_bipartitions(const CommGraph& pattern);

}  // namespace topoloom
