// SPDX-License-Identifier: BSD-3-Clause
// Predicted time of a phase: startup and latency in addition to the busiest link or node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/machine/machine.hpp"
#include "topoloom/metric/loads/bottleneck_times.hpp"
#include "topoloom/metric/loads/max_tree.hpp"
#include "topoloom/metric/loads/running_max.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// The tick in which startups are counted, at least a picosecond: integer sums leave no rounding trace when undone.
[[nodiscard]] double startup_tick(const CommGraph& graph, const Machine& machine);

/// A phase of as many rounds as there are messages between any two ranks, each round waiting for the one before; see
/// split_rounds(). It takes as long as what is busiest needs once it is reached, and as its senders need to start all
/// messages and see the last of them arrive:
///
///     time = the longest of  rounds * (longest route + startup) + startups inside nodes / leaving messages + network
///                            rounds * startup inside a node + memory
///                            any sender(its startups + rounds * its longest route + its largest transfer)
///                            any sender(its startups + rounds * its longest route)
///                                + max(network / messages with which a sender leaves, memory / messages of a sender)
///
/// A sender starts its messages one after the other, while those before them are in flight: a pipeline of two stages,
/// which ends with the first message in the one and all in the other, or all in the one and the last in the other. After
/// LogGP (Alexandrov, Ionescu, Schauser, Scheiman, SPAA 1995), with o for every message, L for every round, and G for
/// what is shared. The startups inside nodes are those of senders that also leave theirs: their cards wait for them.
class PhaseTime {
   public:
    /// Keeps references to the machine.
    PhaseTime(const Machine& machine, const CommGraph& graph, std::span<const Slot> slot_of_rank);

    [[nodiscard]] double time(const BottleneckTimes& bottleneck) const;

    /// Moves u, and v unless it is Rank::none, to these slots.
    void set_slots(Rank u, Slot for_u, Rank v, Slot for_v);

   private:
    /// A message as one of its ends sees it.
    struct End {
        Rank peer;
        bool sent;
        std::size_t message;
    };
    /// All messages from one rank to another.
    struct Message {
        std::int64_t bytes;
        std::int64_t number;
        bool leaves = false;
        double latency = 0;   // seconds, as is the next
        double transfer = 0;  // of all, at the narrowest point of their route
    };
    struct Sender {
        std::size_t first = 0;  // of its messages
        std::size_t end = 0;
        std::int64_t leaving = 0;          // pairs
        std::int64_t startups = 0;         // ticks, as is the next
        std::int64_t startups_inside = 0;  // its node
        RunningMax longest;                // latency, transfer
        RunningMax largest;
    };

    void list_messages(const CommGraph& graph);
    [[nodiscard]] std::span<const End> of(Rank u) const {
        return std::span(ends_).subspan(first_[u.value], first_[u.value + 1] - first_[u.value]);
    }
    template <class Use>
    void each(Rank u, Rank v, const Use& use) const {
        for (const End& end : of(u)) use(u, end);
        if (v == Rank::none) return;
        for (const End& end : of(v)) {
            if (end.peer != u) use(v, end);
        }
    }

    void put(Rank rank, const End& end);
    void take(Rank rank, const End& end);
    void count(Sender& sender, const Message& message, std::int64_t sign);
    void set_time(Rank u);

    const Machine& machine_;
    double tick_;  // seconds
    double rounds_ = 0;
    std::vector<std::size_t> first_;  // by rank
    std::vector<End> ends_;
    std::vector<Message> messages_;  // by sender
    std::vector<Node> node_;         // by rank, as is the next
    std::vector<Sender> senders_;
    MaxTree longest_;           // seconds, by sender, as are the next
    MaxTree starting_;          // that the last message is late without any load
    MaxTree ending_;            // the same, and its transfer
    std::int64_t inside_ = 0;   // pairs of ranks on one node
    std::int64_t leaving_ = 0;  // on different ones
    std::int64_t all_senders_ = 0;
    std::int64_t leaving_senders_ = 0;
    std::int64_t startups_before_leaving_ = 0;  // ticks
};

}  // namespace topoloom
