// SPDX-License-Identifier: BSD-3-Clause
// What a phase takes beside its busiest link or node: the longest way, and what messages take to start.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/machine/machine.hpp"
#include "topoloom/metric/max_tree.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// A phase of as many rounds as there are messages between any two ranks, each round waiting for the one before. It
/// takes as long as the busiest link or node needs, `busiest`, and as its senders need to start all messages:
///
///     time = max(rounds * (longest way + startup) + busiest,
///                most of any sender(its startups + its rounds * its longest way) + busiest / leaving messages)
///
/// A sender starts its messages one after the other, while those before them are on their way: a pipeline of two stages,
/// which ends with the first message in the one and all in the other, or all in the one and the last in the other. After
/// LogGP (Alexandrov, Ionescu, Schauser, Scheiman, SPAA 1995), with o for every message, L for every round, and G for
/// what is shared.
template <class T>
class PhaseTime {
   public:
    static constexpr Rank nobody{std::numeric_limits<std::uint32_t>::max()};

    /// Refers to network and machine.
    PhaseTime(const T& network, const Machine& machine, const CommGraph& graph,
              std::span<const Slot> slot_of_rank)
        : network_(network),
          machine_(machine),
          tick_(tick_for(graph, machine)),
          senders_(graph.rank_count()),
          longest_(graph.rank_count()),
          starting_(graph.rank_count()) {
        for (const Slot slot : slot_of_rank) node_.push_back(machine.node(slot));
        list_messages(graph);
        for (const Rank u : ids<Rank>(graph.rank_count())) {
            for (const Message& message : of(u)) {
                if (message.sent) count(u, message, 1);
            }
            set_time(u);
        }
    }

    /// With `busiest` seconds for the busiest link or node.
    [[nodiscard]] double time(double busiest) const {
        const NodeSpeeds& speeds = machine_.speeds();
        const double startup = leaving_ > 0 ? speeds.startup.value : speeds.memory_startup.value;
        // Of a sender, on average; the last of them are on the way when the latest sender has started all.
        const double messages = leaving_ > 0
                                    ? static_cast<double>(leaving_) / static_cast<double>(leaving_senders_)
                                    : static_cast<double>(most_in_a_round_);
        return std::max(rounds_ * (longest_.max() + startup) + busiest, starting_.max() + busiest / messages);
    }

    /// Of u, and of v if that is not nobody.
    void sit(Rank u, Slot for_u, Rank v, Slot for_v) {
        each(u, v, [&](Rank end, const Message& message) { count(end, message, -1); });
        node_[u.value] = machine_.node(for_u);
        if (v != nobody) node_[v.value] = machine_.node(for_v);
        each(u, v, [&](Rank end, const Message& message) { count(end, message, 1); });
        each(u, v, [&](Rank, const Message& message) {
            if (!message.sent) set_time(message.peer);
        });
        set_time(u);
        if (v != nobody) set_time(v);
    }

   private:
    struct Message {
        Rank peer;
        bool sent;
        std::int64_t messages;
    };
    struct Way {
        double latency;  // seconds
        std::uint32_t messages;
    };
    struct Sender {
        std::size_t first_way = 0;
        std::uint32_t ways = 0;     // different ones; there is room for all messages of a round
        std::int64_t rounds = 0;    // the most messages to one peer
        std::int64_t startups = 0;  // ticks
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
        const auto each_edge = [&](const auto& use) {
            for (const Rank u : ids<Rank>(graph.rank_count())) {
                for (const Edge edge : graph.sends(u)) {
                    if (edge.peer != u && edge.messages > 0) use(u, edge);
                }
            }
        };
        std::vector<std::uint32_t> sent(graph.rank_count());
        each_edge([&](Rank u, const Edge& edge) {
            ++first_[u.value + 1];
            ++first_[edge.peer.value + 1];
            ++sent[u.value];
            senders_[u.value].rounds = std::max(senders_[u.value].rounds, edge.messages);
        });
        std::size_t first_way = 0;
        for (std::size_t u = 0; u < graph.rank_count(); ++u) {
            first_[u + 1] += first_[u];
            senders_[u].first_way = std::exchange(first_way, first_way + sent[u]);
            rounds_ = std::max(rounds_, static_cast<double>(senders_[u].rounds));
            most_in_a_round_ = std::max(most_in_a_round_, sent[u]);
        }
        ways_.resize(first_way);
        messages_.resize(first_.back());
        std::vector<std::size_t> next(first_.begin(), first_.end());
        each_edge([&](Rank u, const Edge& edge) {
            messages_[next[u.value]++] = {edge.peer, true, edge.messages};
            messages_[next[edge.peer.value]++] = {u, false, edge.messages};
        });
    }
    [[nodiscard]] std::span<const Message> of(Rank u) const {
        return std::span(messages_).subspan(first_[u.value], first_[u.value + 1] - first_[u.value]);
    }
    template <class Use>
    void each(Rank u, Rank v, const Use& use) const {
        for (const Message& message : of(u)) use(u, message);
        if (v == nobody) return;
        for (const Message& message : of(v)) {
            if (message.peer != u) use(v, message);
        }
    }

    void count(Rank end, const Message& message, std::int64_t sign) {
        const Rank source = message.sent ? end : message.peer;
        const Node from = node_[source.value];
        const Node to = node_[(message.sent ? message.peer : end).value];
        const bool leaves = from != to;
        const Seconds startup = leaves ? machine_.speeds().startup : machine_.speeds().memory_startup;
        Sender& sender = senders_[source.value];
        sender.startups += sign * message.messages * static_cast<std::int64_t>(startup.value / tick_ + 0.5);
        if (!leaves) return;
        leaving_ += sign;
        double latency = machine_.speeds().latency.value;
        network_.route(from, to,
                       [&](Link link, double share) { latency += share * network_.latency(link).value; });
        leaving_senders_ -= sender.ways > 0 ? 1 : 0;
        count_way(sender, latency, sign);
        leaving_senders_ += sender.ways > 0 ? 1 : 0;
    }
    /// Each latency is that of a pair of nodes, computed anew to the same bits.
    void count_way(Sender& sender, double latency, std::int64_t sign) {
        const std::span<Way> ways = ways_of(sender);
        const auto known = std::ranges::find(ways, latency, &Way::latency);
        if (known == ways.end()) {
            ways_[sender.first_way + sender.ways++] = {latency, 1};
        } else if (sign > 0) {
            ++known->messages;
        } else if (--known->messages == 0) {
            *known = ways.back();
            --sender.ways;
        }
    }
    [[nodiscard]] std::span<Way> ways_of(const Sender& sender) {
        return std::span(ways_).subspan(sender.first_way, sender.ways);
    }
    void set_time(Rank u) {
        const Sender& sender = senders_[u.value];
        double longest = 0;
        for (const Way& way : ways_of(sender)) longest = std::max(longest, way.latency);
        longest_.set(u.value, longest);
        starting_.set(u.value, static_cast<double>(sender.startups) * tick_ +
                                   static_cast<double>(sender.rounds) * longest);
    }

    const T& network_;
    const Machine& machine_;
    double tick_;  // seconds
    double rounds_ = 0;
    std::uint32_t most_in_a_round_ = 1;  // messages of a sender
    std::vector<std::size_t> first_;     // by rank
    std::vector<Message> messages_;
    std::vector<Node> node_;       // by rank
    std::vector<Sender> senders_;  // by rank
    std::vector<Way> ways_;        // by sender
    MaxTree longest_;              // seconds, by sender
    MaxTree starting_;             // seconds that messages are late without any load, by sender
    std::int64_t leaving_ = 0;     // pairs of ranks on different nodes
    std::int64_t leaving_senders_ = 0;
};

}  // namespace topoloom
