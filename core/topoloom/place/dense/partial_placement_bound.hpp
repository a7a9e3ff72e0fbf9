// SPDX-License-Identifier: BSD-3-Clause
// Lower bounds on the objective of all placements that extend a partial placement.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/metric/objective.hpp"
#include "topoloom/place/dense/route_table.hpp"
#include "topoloom/place/problem.hpp"

namespace topoloom::dense {

/// The objective of a problem, or hop-bytes, over the messages between the ranks placed so far. Computed from
/// precomputed routes, so values differ from Problem::key() by rounding; the smooth maximum, which is a sum of
/// integers there, by up to 10^-7 per link. One rank per slot, no earlier placement.
class PartialObjective {
   public:
    /// Refers to its arguments. `distances` are those of dense_distances().
    PartialObjective(const Problem& problem, const RouteTable& routes,
                     std::span<const std::int64_t> distances);

    void place(Rank u, Position at);
    /// Undoes the last place().
    void unplace();
    [[nodiscard]] Position position(Rank u) const { return position_[u.value]; }
    /// The number of messages of a rank, in both directions and all phases.
    [[nodiscard]] std::size_t message_count(Rank u) const;
    /// Lower bound on the objective of all placements that extend this one.
    [[nodiscard]] double lower_bound() const { return evaluate(false); }
    /// The objective of a complete placement.
    [[nodiscard]] double value() const { return evaluate(true); }
    /// Lower bound on the hop-bytes; exact for complete placements.
    [[nodiscard]] double hop_bytes() const;

   private:
    struct Message {
        Rank peer;
        bool sent;
        double bytes;
        double number;
    };
    /// Resources of a part: links, then, if it is timed, the ports (out, in) and memory (read, write) of
    /// nodes. Quantities of a sender follow.
    struct Part {
        bool is_timed = false;
        std::vector<std::vector<Message>> messages;  // by rank, both directions
        std::size_t loads = 0;                       // index of the first load in state_
        std::size_t senders = 0;                     // index of the quantities of the first sender
        double rounds = 0;
        double tick = 0;                         // unit of startups in seconds
        double startup = 0, memory_startup = 0;  // in ticks
        double all_senders = 0;
        double all_messages = 0;  // pairs
    };
    /// Totals of a part, stored before its loads: seconds of the busiest link or port and of the busiest
    /// memory; the sum of the 8th powers of the seconds of all links; bytes times links of placed messages;
    /// bytes of all other messages.
    enum Total : std::size_t { network_peak, memory_peak, norm, carried, ahead, totals };
    /// Quantities of a sender: startups, in ticks; longest latency and largest transfer, in seconds; number of
    /// inter-node messages (pairs); startups of intra-node messages, in ticks.
    enum Quantity : std::size_t { startups, longest, largest, leaving, startups_inside, quantities };

    void add_rounds(const CommGraph& phase);
    void add_part(const CommGraph& graph, bool is_timed, double background_share);
    void assume_nearest(const Part& part, Rank u, double messages);
    void set_background(Part& part, double share);
    void send(const Part& part, Rank from, Rank to, const Message& message);
    void send_timed(const Part& part, Rank from, std::size_t a, std::size_t b, const Message& message);
    void load(const Part& part, std::size_t resource, double amount, double cost, Total peak);
    void set(std::size_t index, double value) {
        undo_.emplace_back(static_cast<std::uint32_t>(index), state_[index]);
        state_[index] = value;
    }
    [[nodiscard]] double total(const Part& part, Total which) const {
        return state_[part.loads - totals + which];
    }
    [[nodiscard]] double quantity(const Part& part, std::size_t u, Quantity which) const {
        return state_[part.senders + u * quantities + which];
    }
    /// Whether the hop-bytes of a part are those of the placement: parts on links and timed parts have the
    /// same messages.
    [[nodiscard]] bool counts_hops(const Part& part) const { return part.is_timed != counts_hops_on_links_; }
    [[nodiscard]] double least_startup(const Part& part) const {
        return all_leave_ ? part.startup : std::min(part.startup, part.memory_startup);
    }
    [[nodiscard]] double weight(ObjectiveKind kind) const {
        return objective_.mix.of(kind) / objective_.unit[static_cast<std::size_t>(kind)];
    }
    [[nodiscard]] double evaluate(bool is_complete) const;
    [[nodiscard]] double bound_network(const Part& part) const;
    [[nodiscard]] double bound_soft(const Part& part) const;
    [[nodiscard]] double bound_time(const Part& part, bool is_complete) const;

    const Problem& problem_;
    const RouteTable& routes_;
    std::span<const std::int64_t> distances_;
    std::span<const std::uint32_t> node_of_;
    PhasedObjective objective_;
    std::deque<std::vector<CommGraph>> rounds_;  // split_into_rounds() of each phase
    std::vector<Part> parts_;
    bool counts_hops_on_links_ = false;
    bool all_leave_;           // whether all messages are inter-node, because nodes have one slot each
    double min_hops_ = 0;      // of routes between slots
    double min_latency_ = 0;   // likewise, in seconds
    double min_transfer_ = 0;  // likewise, in seconds per byte
    double min_distance_ = 0;
    double bandwidth_ = 0;  // of all links
    std::vector<double> state_;
    std::vector<std::pair<std::uint32_t, double>> undo_;  // indices in state_ and previous values
    std::vector<std::pair<Rank, std::size_t>> placed_;    // ranks and sizes of undo_ before them
    std::vector<Position> position_;                      // by rank
    std::size_t hop_bytes_ = 0;         // index in state_; the bytes of other messages follow
    std::size_t loaded_elsewhere_ = 0;  // links with background traffic that no route crosses
};

}  // namespace topoloom::dense
