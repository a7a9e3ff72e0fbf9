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

/// How the messages of an assignment share a ring bus; less is better (Sudheer 2012, section 4.6). Members
/// are compared in this order: load of the busiest link, load difference of the two directions, load in
/// excess of two messages per link, and messages that go half-way around the ring. All are in half units,
/// because half-way messages count half in each direction. A unit is the greatest common divisor of all
/// message sizes. The source counts messages, which gives the same scores if all sizes are equal.
struct BusScore {
    std::int64_t peak = 0;
    std::int64_t imbalance = 0;
    std::int64_t excess = 0;  // load above two messages of the largest size
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
    std::size_t optima = 0;  // number of assignments as good as the first
    Bytes unit{1};           // unit of the scores in bytes
};

/// Scores all 40,320 assignments. `station`: bus stations of the eight elements. The pattern has eight ranks;
/// each edge is one message. Symmetric assignments are not skipped, because the other stations break the
/// symmetry of the bus. Throws Error for other numbers of stations or ranks.
[[nodiscard]] BusAffinities rank_bus_affinities(const RingBus& bus, std::span<const Node> station,
                                                const CommGraph& pattern);

/// Rates of the slowest message and mean rates of all messages.
struct AffinityRate {
    BusRate slowest, average;
};

/// Returns the rates of each assignment; ignores edges without bytes. Throws Error as bus_rates() does.
[[nodiscard]] std::vector<AffinityRate> affinity_rates(const RingBus& bus, std::span<const Node> station,
                                                       const CommGraph& pattern,
                                                       std::span<const RankedAffinity> ranking,
                                                       const BusTiming& timing);

/// A division of threads between the two processors of a blade; bit t is set for threads on processor 0.
struct Bipartition {
    std::uint32_t on_first = 0;
    Bytes crossing;
};

struct Bipartitions {
    Bipartition best;  // processor 0 is the side that sends more
    Bipartition worst;
    std::size_t optima = 0;  // number of sets as good as the best; a set and its complement count separately
    std::size_t pessima = 0;
};

/// Ranks all balanced bipartitions of an even number of up to 24 threads by the bytes between processors.
/// Throws Error for other numbers of threads.
[[nodiscard]] Bipartitions rank_bipartitions(const CommGraph& pattern);

}  // namespace topoloom
