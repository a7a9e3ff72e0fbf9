// SPDX-License-Identifier: BSD-3-Clause
// What a phase takes beside its busiest link or node: the longest route, and what messages take to start.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/machine/machine.hpp"
#include "topoloom/metric/busiest.hpp"
#include "topoloom/metric/max_tree.hpp"
#include "topoloom/metric/running_max.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

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
template <class T>
class PhaseTime {
   public:
    /// Refers to network and machine.
    PhaseTime(const T& network, const Machine& machine, const CommGraph& graph,
              std::span<const Slot> slot_of_rank)
        : network_(network),
          machine_(machine),
          tick_(tick_for(graph, machine)),
          senders_(graph.rank_count()),
          longest_(graph.rank_count()),
          starting_(graph.rank_count()),
          ending_(graph.rank_count()) {
        for (const Slot slot : slot_of_rank) node_.push_back(machine.node(slot));
        list_messages(graph);
        for (const Rank u : ids<Rank>(graph.rank_count())) {
            for (const End& end : of(u)) {
                if (end.sent) put(u, end);
            }
            set_time(u);
        }
    }

    [[nodiscard]] double time(const Busiest& busiest) const {
        const NodeSpeeds& speeds = machine_.speeds();
        const double startup = leaving_ > 0 ? speeds.startup.value : speeds.memory_startup.value;
        const double first = rounds_ * (longest_.max() + startup);
        const double first_inside = inside_ > 0 ? rounds_ * speeds.memory_startup.value : first;
        const auto a_sender = [](std::int64_t messages, std::int64_t senders) {
            return static_cast<double>(messages) / static_cast<double>(std::max<std::int64_t>(1, senders));
        };
        const double waiting = static_cast<double>(startups_before_leaving_) * tick_ /
                               static_cast<double>(std::max<std::int64_t>(1, leaving_));
        double last = busiest.memory / std::max(1.0, a_sender(leaving_ + inside_, all_senders_));
        if (leaving_ > 0) last = std::max(last, busiest.network / a_sender(leaving_, leaving_senders_));
        return std::max({first + waiting + busiest.network, first_inside + busiest.memory, ending_.max(),
                         starting_.max() + last});
    }

    /// Of u, and of v if that is not Rank::none.
    void sit(Rank u, Slot for_u, Rank v, Slot for_v) {
        each(u, v, [&](Rank rank, const End& end) { take(rank, end); });
        node_[u.value] = machine_.node(for_u);
        if (v != Rank::none) node_[v.value] = machine_.node(for_v);
        each(u, v, [&](Rank rank, const End& end) { put(rank, end); });
        each(u, v, [&](Rank, const End& end) {
            if (!end.sent) set_time(end.peer);
        });
        set_time(u);
        if (v != Rank::none) set_time(v);
    }

   private:
    /// As sender and receiver see a message.
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

    /// Startups are counted in whole ticks of at least a picosecond, so that what is taken back leaves no trace.
    [[nodiscard]] static double tick_for(const CommGraph& graph, const Machine& machine) {
        const NodeSpeeds& speeds = machine.speeds();
        const double all = static_cast<double>(graph.total_messages()) *
                           std::max(speeds.startup.value, speeds.memory_startup.value);
        return std::max(1e-12, all / 0x1p60);
    }
    void list_messages(const CommGraph& graph) {
        first_.assign(graph.rank_count() + 1, 0);
        for (const Rank u : ids<Rank>(graph.rank_count())) {
            Sender& sender = senders_[u.value];
            sender.first = messages_.size();
            for (const Edge edge : graph.sends(u)) {
                if (edge.messages == 0) continue;
                messages_.push_back({edge.bytes.value, edge.messages});
                rounds_ = std::max(rounds_, static_cast<double>(edge.messages));
                ++first_[u.value + 1];
                ++first_[edge.peer.value + 1];
            }
            sender.end = messages_.size();
            all_senders_ += sender.end > sender.first ? 1 : 0;
        }
        for (std::size_t u = 0; u < graph.rank_count(); ++u) first_[u + 1] += first_[u];
        ends_.resize(first_.back());
        std::vector<std::size_t> next(first_.begin(), first_.end());
        std::size_t message = 0;
        for (const Rank u : ids<Rank>(graph.rank_count())) {
            for (const Edge edge : graph.sends(u)) {
                if (edge.messages == 0) continue;
                ends_[next[u.value]++] = {edge.peer, true, message};
                ends_[next[edge.peer.value]++] = {u, false, message++};
            }
        }
    }
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

    void put(Rank rank, const End& end) {
        const Rank source = end.sent ? rank : end.peer;
        const Node from = node_[source.value];
        const Node to = node_[(end.sent ? end.peer : rank).value];
        Message& message = messages_[end.message];
        const NodeSpeeds& speeds = machine_.speeds();
        const auto bytes = static_cast<double>(message.bytes);
        message.leaves = from != to;
        message.latency = 0;
        message.transfer = bytes / speeds.memory.value;
        if (message.leaves) {
            message.latency = speeds.latency.value;
            message.transfer = std::max(message.transfer, bytes / speeds.port.value);
            network_.route(from, to, [&](Link link, double share) {
                message.latency += share * network_.latency(link).value;
                message.transfer = std::max(message.transfer, share * bytes / network_.bandwidth(link).value);
            });
        }
        Sender& sender = senders_[source.value];
        sender.longest.put(message.latency);
        sender.largest.put(message.transfer);
        count(sender, message, 1);
    }
    void take(Rank rank, const End& end) {
        Sender& sender = senders_[(end.sent ? rank : end.peer).value];
        const Message& message = messages_[end.message];
        sender.longest.take(message.latency);
        sender.largest.take(message.transfer);
        count(sender, message, -1);
    }
    void count(Sender& sender, const Message& message, std::int64_t sign) {
        const NodeSpeeds& speeds = machine_.speeds();
        const double startup = (message.leaves ? speeds.startup : speeds.memory_startup).value;
        const std::int64_t ticks = message.number * static_cast<std::int64_t>(startup / tick_ + 0.5);
        if (sender.leaving > 0) {
            --leaving_senders_;
            startups_before_leaving_ -= sender.startups_inside;
        }
        sender.startups += sign * ticks;
        (message.leaves ? leaving_ : inside_) += sign;
        if (message.leaves) {
            sender.leaving += sign;
        } else {
            sender.startups_inside += sign * ticks;
        }
        if (sender.leaving > 0) {
            ++leaving_senders_;
            startups_before_leaving_ += sender.startups_inside;
        }
    }
    void set_time(Rank u) {
        Sender& sender = senders_[u.value];
        if (!sender.longest.is_known() || !sender.largest.is_known()) {
            sender.longest = sender.largest = {};
            for (std::size_t i = sender.first; i < sender.end; ++i) {
                sender.longest.put(messages_[i].latency);
                sender.largest.put(messages_[i].transfer);
            }
        }
        const double starting =
            static_cast<double>(sender.startups) * tick_ + rounds_ * sender.longest.value();
        longest_.set(u.value, sender.longest.value());
        starting_.set(u.value, starting);
        ending_.set(u.value, starting + sender.largest.value());
    }

    const T& network_;
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
