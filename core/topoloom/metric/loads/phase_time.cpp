// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/metric/loads/phase_time.hpp"

#include <algorithm>
#include <utility>

#include "topoloom/machine/network_view.hpp"
#include "topoloom/metric/loads/soft_term.hpp"

namespace topoloom {

namespace {

/// Latency and transfer time of one message in seconds.
struct MessageTimes {
    double latency;
    double transfer;  // on the slowest resource of the route
};

/// Computes the times of a message between two nodes.
MessageTimes compute_message_times(const Machine& machine, Node from, Node to, double bytes) {
    const NodeSpeeds& speeds = machine.speeds();
    MessageTimes found{speeds.latency.value,
                       std::max(bytes / speeds.memory.value, bytes / speeds.port.value)};
    with_common_topology(machine, [&](const auto& network) {
        network.route(from, to, [&](Link link, double share) {
            found.latency += share * network.latency(link).value;
            found.transfer = std::max(found.transfer, share * bytes / network.bandwidth(link).value);
        });
    });
    return found;
}

}  // namespace

double startup_tick(const CommGraph& graph, const Machine& machine) {
    const NodeSpeeds& speeds = machine.speeds();
    const double all = static_cast<double>(graph.total_messages()) *
                       std::max(speeds.startup.value, speeds.memory_startup.value);
    return std::max(1e-12, all / 0x1p60);
}

PhaseTime::PhaseTime(const Machine& machine, const CommGraph& graph, std::span<const Slot> slot_of_rank)
    : machine_(machine),
      tick_(startup_tick(graph, machine)),
      senders_(graph.rank_count()),
      longest_(graph.rank_count()),
      starting_(graph.rank_count()),
      ending_(graph.rank_count()) {
    for (const Slot slot : slot_of_rank) node_.push_back(machine.node(slot));
    list_messages(graph);
    for (const Rank u : ids<Rank>(graph.rank_count())) {
        for (const End& end : ends_of(u)) {
            if (end.sent) add(u, end);
        }
        update_times(u);
    }
}

double PhaseTime::time(const BottleneckTimes& bottleneck) const {
    const NodeSpeeds& speeds = machine_.speeds();
    const double startup = leaving_ > 0 ? speeds.startup.value : speeds.memory_startup.value;
    const double first = rounds_ * (longest_.max() + startup);
    const double first_inside = inside_ > 0 ? rounds_ * speeds.memory_startup.value : first;
    const auto a_sender = [](std::int64_t messages, std::int64_t senders) {
        return static_cast<double>(messages) / static_cast<double>(std::max<std::int64_t>(1, senders));
    };
    const double waiting = static_cast<double>(startups_before_leaving_) * tick_ /
                           static_cast<double>(std::max<std::int64_t>(1, leaving_));
    double last = bottleneck.memory / std::max(1.0, a_sender(leaving_ + inside_, all_senders_));
    if (leaving_ > 0) last = std::max(last, bottleneck.network / a_sender(leaving_, leaving_senders_));
    return std::max({first + waiting + bottleneck.network, first_inside + bottleneck.memory, ending_.max(),
                     starting_.max() + last});
}

bool PhaseTime::is_slow(Rank u, double share) const {
    const double least = share * ending_.max();
    if (ending_[u.value] >= least) return true;
    return std::ranges::any_of(ends_of(u),
                               [&](const End& end) { return !end.sent && ending_[end.peer.value] >= least; });
}

void PhaseTime::set_soft_scale(double seconds) {
    soft_factor_ = 1 / seconds;
    soft_ = 0;
    for (std::size_t u = 0; u < senders_.size(); ++u) soft_ += soft_term(ending_[u] * soft_factor_);
}

void PhaseTime::set_slots(Rank u, Slot for_u, Rank v, Slot for_v) {
    for_each_end(u, v, [&](Rank rank, const End& end) { remove(rank, end); });
    node_[u.value] = machine_.node(for_u);
    if (v != Rank::none) node_[v.value] = machine_.node(for_v);
    for_each_end(u, v, [&](Rank rank, const End& end) { add(rank, end); });
    for_each_end(u, v, [&](Rank, const End& end) {
        if (!end.sent) update_times(end.peer);
    });
    update_times(u);
    if (v != Rank::none) update_times(v);
}

void PhaseTime::list_messages(const CommGraph& graph) {
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

void PhaseTime::add(Rank rank, const End& end) {
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
        const MessageTimes route = compute_message_times(machine_, from, to, bytes);
        message.latency = route.latency;
        message.transfer = route.transfer;
    }
    Sender& sender = senders_[source.value];
    sender.longest.add(message.latency);
    sender.largest.add(message.transfer);
    add_to_counts(sender, message, 1);
}

void PhaseTime::remove(Rank rank, const End& end) {
    Sender& sender = senders_[(end.sent ? rank : end.peer).value];
    const Message& message = messages_[end.message];
    sender.longest.remove(message.latency);
    sender.largest.remove(message.transfer);
    add_to_counts(sender, message, -1);
}

void PhaseTime::add_to_counts(Sender& sender, const Message& message, std::int64_t sign) {
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

void PhaseTime::update_times(Rank u) {
    Sender& sender = senders_[u.value];
    if (!sender.longest.is_known() || !sender.largest.is_known()) {
        sender.longest = sender.largest = {};
        for (std::size_t i = sender.first; i < sender.end; ++i) {
            sender.longest.add(messages_[i].latency);
            sender.largest.add(messages_[i].transfer);
        }
    }
    const double starting = static_cast<double>(sender.startups) * tick_ + rounds_ * sender.longest.value();
    longest_.set(u.value, sender.longest.value());
    starting_.set(u.value, starting);
    set_ending(u, starting + sender.largest.value());
}

void PhaseTime::set_ending(Rank u, double seconds) {
    soft_ += soft_term(seconds * soft_factor_) - soft_term(ending_[u.value] * soft_factor_);
    ending_.set(u.value, seconds);
}

}  // namespace topoloom
