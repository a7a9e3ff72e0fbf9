// SPDX-License-Identifier: BSD-3-Clause
// What a phase takes beside its busiest link: the longest way, and the busiest port of a node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "topoloom/machine/machine.hpp"
#include "topoloom/metric/max_tree.hpp"
#include "topoloom/metric/rank_messages.hpp"
#include "topoloom/metric/soft_term.hpp"

namespace topoloom {

/// Under a placement that changes. Everything is counted in whole bytes and messages, so what is taken back leaves no
/// trace. A change costs O(messages of the ranks * (hops + log nodes)). Messages within a node take no time.
template <class T>
class PhaseTime {
   public:
    /// Refers to network, machine and messages.
    PhaseTime(const T& network, const Machine& machine, const RankMessages& messages,
              std::span<const Slot> slot_of_rank)
        : network_(network),
          machine_(machine),
          messages_(messages),
          sent_(machine.node_count()),
          received_(machine.node_count()) {
        for (const Slot slot : slot_of_rank) node_.push_back(machine.node(slot));
        for (const Rank u : ids<Rank>(node_.size())) {
            for (const RankMessage& message : messages.of(u)) {
                if (message.sent) count(u, message, 1);
            }
        }
    }

    /// The time that any message takes to start, and what the links on the longest way add to it.
    [[nodiscard]] double latency() const {
        return ways_.empty() ? 0 : machine_.inside().startup.value + ways_.rbegin()->first;
    }
    /// Bytes that a node sends or receives, the most of them, by the bandwidth of its port.
    [[nodiscard]] double port() const { return port_time(std::max(sent_.max(), received_.max())); }

    /// Of the ports, as LinkLoads::soft() of the links.
    [[nodiscard]] std::int64_t soft() const { return soft_; }
    void set_soft_scale(double seconds) {
        soft_factor_ = 1 / seconds;
        soft_ = 0;
        for (std::size_t node = 0; node < machine_.node_count(); ++node)
            soft_ += port_term(sent_[node]) + port_term(received_[node]);
    }
    /// Whether the port of u's node is busy for at least as long.
    [[nodiscard]] bool is_busy(Rank u, double seconds) const {
        const std::size_t node = node_[u.value].value;
        return seconds > 0 && port_time(std::max(sent_[node], received_[node])) >= seconds;
    }

    /// Of u, and of v if that is not nobody.
    void sit(Rank u, Slot for_u, Rank v, Slot for_v) {
        messages_.each(u, v, [&](Rank end, const RankMessage& message) { count(end, message, -1); });
        node_[u.value] = machine_.node(for_u);
        if (v != RankMessages::nobody) node_[v.value] = machine_.node(for_v);
        messages_.each(u, v, [&](Rank end, const RankMessage& message) { count(end, message, 1); });
    }

   private:
    [[nodiscard]] double port_time(std::int64_t bytes) const {
        return static_cast<double>(bytes) / machine_.inside().port_bandwidth.value;
    }
    [[nodiscard]] std::int64_t port_term(std::int64_t bytes) const {
        return soft_term(port_time(bytes) * soft_factor_);
    }
    void count(Rank end, const RankMessage& message, std::int64_t sign) {
        const Node here = node_[end.value];
        const Node there = node_[message.peer.value];
        if (here == there) return;
        const Node from = message.sent ? here : there;
        const Node to = message.sent ? there : here;
        add(sent_, from, sign * message.bytes);
        add(received_, to, sign * message.bytes);
        double way = 0;
        network_.route(from, to,
                       [&](Link link, double share) { way += share * network_.latency(link).value; });
        const auto entry = ways_.try_emplace(way, 0).first;
        entry->second += sign;
        if (entry->second == 0) ways_.erase(entry);
    }
    void add(MaxTree& bytes, Node node, std::int64_t more) {
        soft_ -= port_term(bytes[node.value]);
        bytes.add(node.value, more);
        soft_ += port_term(bytes[node.value]);
    }

    const T& network_;
    const Machine& machine_;
    const RankMessages& messages_;
    std::vector<Node> node_;               // by rank
    MaxTree sent_, received_;              // bytes, by node
    std::map<double, std::int64_t> ways_;  // messages by the latency of their way
    double soft_factor_ = 0;
    std::int64_t soft_ = 0;
};

}  // namespace topoloom
