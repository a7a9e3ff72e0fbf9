// SPDX-License-Identifier: BSD-3-Clause
// What a phase takes beside its busiest link or node: the longest way, and what messages take to start.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "topoloom/machine/machine.hpp"
#include "topoloom/metric/max_tree.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// A phase of as many rounds as there are messages between any two ranks, each round waiting for the one before:
///
///     time = rounds * (longest way + startup) + max(busiest link or node, startups of the busiest sender beyond that)
///
/// A sender starts its messages one after the other, while those before them are on their way: after LogGP (Alexandrov,
/// Ionescu, Schauser, Scheiman, SPAA 1995), with o for every message, L for every round, and G for what is shared.
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
          starting_(graph.rank_count()) {
        for (const Slot slot : slot_of_rank) node_.push_back(machine.node(slot));
        list_messages(graph);
        for (const Rank u : ids<Rank>(graph.rank_count())) {
            for (const Message& message : of(u)) {
                if (message.sent) count(u, message, 1);
            }
        }
    }

    /// With `busiest` seconds for the busiest link or node.
    [[nodiscard]] double time(double busiest) const {
        const double first = rounds_ * (leaving_ > 0 ? machine_.speeds().startup.value
                                                     : machine_.speeds().memory_startup.value);
        const double longest = ways_.empty() ? 0 : machine_.speeds().latency.value + ways_.rbegin()->first;
        return rounds_ * longest + std::max(static_cast<double>(starting_.max()) * tick_, first + busiest);
    }

    /// Of u, and of v if that is not nobody.
    void sit(Rank u, Slot for_u, Rank v, Slot for_v) {
        each(u, v, [&](Rank end, const Message& message) { count(end, message, -1); });
        node_[u.value] = machine_.node(for_u);
        if (v != nobody) node_[v.value] = machine_.node(for_v);
        each(u, v, [&](Rank end, const Message& message) { count(end, message, 1); });
    }

   private:
    struct Message {
        Rank peer;
        bool sent;
        std::int64_t messages;
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
        each_edge([&](Rank u, const Edge& edge) {
            ++first_[u.value + 1];
            ++first_[edge.peer.value + 1];
            rounds_ = std::max(rounds_, static_cast<double>(edge.messages));
        });
        for (std::size_t u = 0; u < graph.rank_count(); ++u) first_[u + 1] += first_[u];
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
        const Rank sender = message.sent ? end : message.peer;
        const Node from = node_[sender.value];
        const Node to = node_[(message.sent ? message.peer : end).value];
        const bool leaves = from != to;
        const Seconds startup = leaves ? machine_.speeds().startup : machine_.speeds().memory_startup;
        starting_.add(sender.value,
                      sign * message.messages * static_cast<std::int64_t>(startup.value / tick_ + 0.5));
        if (!leaves) return;
        leaving_ += sign;
        double way = 0;
        network_.route(from, to,
                       [&](Link link, double share) { way += share * network_.latency(link).value; });
        const auto entry = ways_.try_emplace(way, 0).first;
        entry->second += sign;
        if (entry->second == 0) ways_.erase(entry);
    }

    const T& network_;
    const Machine& machine_;
    double tick_;  // seconds
    double rounds_ = 0;
    std::vector<std::size_t> first_;  // by rank
    std::vector<Message> messages_;
    std::vector<Node> node_;               // by rank
    MaxTree starting_;                     // ticks, by sender
    std::int64_t leaving_ = 0;             // pairs of ranks on different nodes
    std::map<double, std::int64_t> ways_;  // pairs by the latency of their way
};

}  // namespace topoloom
