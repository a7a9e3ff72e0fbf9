// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/workloads/closed_loop.hpp"

#include <algorithm>

namespace topoloom {

namespace {

/// Message number: of a request, the sender, to which the reply goes; of a reply, a mark.
constexpr std::uint64_t is_reply = std::uint64_t{1} << 32;

}  // namespace

ClosedLoop::ClosedLoop(const TrafficPattern& traffic, std::size_t nodes, std::uint32_t packet, double load,
                       std::uint64_t seed, const Injection& injection)
    : traffic_(traffic),
      load_(load),
      packet_(packet),
      reply_(injection.reply == 0 ? packet : injection.reply),
      window_(injection.window) {
    senders_.reserve(nodes);
    for (const Node node : ids<Node>(nodes)) {
        senders_.push_back({.source = PacketSource(injection, load, packet, seed, node.value)});
        sender_count_ += traffic.sends(node) ? 1 : 0;
    }
}

std::uint64_t ClosedLoop::held_back_cycles(Node node, std::uint64_t cycle) const {
    if (!traffic_.sends(node)) return 0;
    return cycle - std::min(cycle, senders_[node.value].source.next());
}

std::uint64_t ClosedLoop::next(Node node) const {
    const Sender& sender = senders_[node.value];
    if (sender.first < sender.replies.size()) return sender.replies[sender.first].made;
    if (!traffic_.sends(node) || sender.open == window_) return never;
    return std::max(sender.source.next(), sender.since);
}

PacketRequest ClosedLoop::take(Node node, std::uint64_t /*cycle*/) {
    Sender& sender = senders_[node.value];
    if (sender.first < sender.replies.size()) {
        const Reply reply = sender.replies[sender.first++];
        if (sender.first == sender.replies.size()) {
            sender.replies.clear();
            sender.first = 0;
        }
        return {reply.to, reply_, is_reply, reply.made};
    }
    const std::uint64_t made = std::max(sender.source.next(), sender.since);
    sender.source.take();
    ++sender.open;
    return {traffic_.draw_destination(node, sender.source.rng()), packet_, node.value, made};
}

void ClosedLoop::on_received(Node node, const PacketRequest& order, std::uint64_t cycle) {
    Sender& sender = senders_[node.value];
    if (order.message == is_reply) {
        if (sender.open-- == window_) sender.since = cycle;
        return;
    }
    // Removes sent replies, so that even an overloaded node stores only waiting replies.
    if (sender.first > 64 && sender.first * 2 > sender.replies.size()) {
        sender.replies.erase(sender.replies.begin(),
                             sender.replies.begin() + static_cast<std::ptrdiff_t>(sender.first));
        sender.first = 0;
    }
    sender.replies.push_back({Node{order.message}, cycle});
}

}  // namespace topoloom
