// SPDX-License-Identifier: BSD-3-Clause
// Predicted time of a phase, including startup and latency.
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

/// Returns the time unit of startup sums, at least 1 ps. Sums are integers, so undoing a change restores them
/// exactly.
[[nodiscard]] double startup_tick(const CommGraph& graph, const Machine& machine);

/// Predicted time of a phase. The number of rounds is the maximum number of messages between two ranks; each
/// round waits for the previous round, see split_into_rounds(). The time is the maximum of the time until the
/// busiest resource has transferred all bytes, and of the time until the last message of a sender arrives:
///
///     time = max of  rounds * (longest route + startup) + intra-node startups / inter-node messages + network
///                    rounds * intra-node startup + memory
///                    max over senders of (startups + rounds * longest route + largest transfer)
///                    max over senders of (startups + rounds * longest route)
///                        + max(network / inter-node messages per sender, memory / messages per sender)
///
/// A sender starts its messages one after the other while earlier messages are in flight. The time of this
/// two-stage pipeline is the maximum of two sums: the first message in stage one plus all messages in stage
/// two, and all messages in stage one plus the last in stage two. Based on LogGP (Alexandrov, Ionescu,
/// Schauser, Scheiman, SPAA 1995), with o per message, L per round, and G for shared resources. "intra-node
/// startups" are those of senders that also send inter-node messages, because their NICs wait during these
/// startups.
class PhaseTime {
   public:
    /// Refers to the machine.
    PhaseTime(const Machine& machine, const CommGraph& graph, std::span<const Slot> slot_of_rank);

    [[nodiscard]] double time(const BottleneckTimes& bottleneck) const;

    /// The longest time until the last message of a sender arrives, in seconds: a lower bound on time().
    [[nodiscard]] double slowest_sender() const { return ending_.max(); }
    /// Whether u, or a rank that sends to u, needs at least this share of slowest_sender().
    [[nodiscard]] bool is_slow(Rank u, double share) const;
    /// The sum over senders of soft_term(time / scale). It is 0 until a scale is set.
    [[nodiscard]] std::int64_t soft_value() const { return soft_; }
    void set_soft_scale(double seconds);

    /// Moves u, and v unless v is Rank::none, to these slots.
    void set_slots(Rank u, Slot for_u, Rank v, Slot for_v);

   private:
    /// A message from the view of its sender or receiver.
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
        double latency = 0;   // in seconds, like the next one
        double transfer = 0;  // time of all messages on the slowest resource of the route
    };
    struct Sender {
        std::size_t first = 0;  // the sender's messages: first, and behind the last
        std::size_t end = 0;
        std::int64_t leaving = 0;          // pairs
        std::int64_t startups = 0;         // in ticks, like the next one
        std::int64_t startups_inside = 0;  // startups of intra-node messages
        RunningMax longest;                // longest latency
        RunningMax largest;
    };

    void list_messages(const CommGraph& graph);
    [[nodiscard]] std::span<const End> ends_of(Rank u) const {
        return std::span(ends_).subspan(first_[u.value], first_[u.value + 1] - first_[u.value]);
    }
    template <class Use>
    void for_each_end(Rank u, Rank v, const Use& use) const {
        for (const End& end : ends_of(u)) use(u, end);
        if (v == Rank::none) return;
        for (const End& end : ends_of(v)) {
            if (end.peer != u) use(v, end);
        }
    }

    void add(Rank rank, const End& end);
    void remove(Rank rank, const End& end);
    void add_to_counts(Sender& sender, const Message& message, std::int64_t sign);
    void update_times(Rank u);
    void set_ending(Rank u, double seconds);

    const Machine& machine_;
    double tick_;  // seconds
    double rounds_ = 0;
    std::vector<std::size_t> first_;  // by rank
    std::vector<End> ends_;
    std::vector<Message> messages_;  // by sender
    std::vector<Node> node_;         // by rank, like the next one
    std::vector<Sender> senders_;
    MaxTree longest_;           // in seconds, by sender, like the next two
    MaxTree starting_;          // arrival of the last message, without its transfer time
    MaxTree ending_;            // arrival of the last message
    std::int64_t inside_ = 0;   // messages between ranks on one node
    std::int64_t leaving_ = 0;  // messages between nodes
    std::int64_t all_senders_ = 0;
    std::int64_t leaving_senders_ = 0;
    std::int64_t startups_before_leaving_ = 0;  // ticks
    double soft_factor_ = 0;                    // 1 / scale
    std::int64_t soft_ = 0;
};

}  // namespace topoloom
