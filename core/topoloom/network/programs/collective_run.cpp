// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/programs/collective_run.hpp"

#include <algorithm>

#include "topoloom/base/error.hpp"

namespace topoloom {

CollectiveRun::CollectiveRun(std::span<const SwitchGroup> groups, std::size_t nodes, Bytes bytes,
                             const PacketFormat& format, const MessageCycles& costs)
    : node_count_(nodes), format_(format), costs_(costs), nodes_(nodes) {
    require_packet_format(format);
    if (bytes.value < 0) fail("a message has 0 bytes or more, not ", bytes.value);
    bytes_ = static_cast<std::uint64_t>(bytes.value);
    packets_ = format.packet_count(bytes);
    for (std::uint32_t number = 0; number < groups.size(); ++number)
        for (const Node member : groups[number].members) add_member(groups[number], number, member);
}

void CollectiveRun::add_member(const SwitchGroup& group, std::uint32_t number, Node member) {
    if (member.value >= node_count_)
        fail("node ", member.value, " does not exist: the machine has ", node_count_);
    const bool is_root = member == group.tree.root;
    const bool all = group.collective == SwitchCollective::allreduce;
    NodeState& node = nodes_[member.value];
    if (all || is_root == (group.collective == SwitchCollective::multicast)) {
        node.sends.push_back(number);
        node.next = costs_.send;
    }
    if (all || is_root == (group.collective == SwitchCollective::reduce)) {
        node.expected += packets_;
        steps_ += packets_;
    }
}

PacketRequest CollectiveRun::take(Node from, std::uint64_t /*cycle*/) {
    NodeState& node = nodes_[from.value];
    const std::uint64_t groups = node.sends.size();
    const std::uint64_t packet = node.sent / groups;
    const std::uint32_t group = node.sends[node.sent % groups];
    const std::uint64_t before = packet * format_.payload;
    const PacketRequest order{Node{node_count_ + group},
                              format_.flit_count(bytes_ - std::min(bytes_, before)), packet, costs_.send};
    if (++node.sent == groups * packets_) node.next = never;
    return order;
}

void CollectiveRun::on_sent(Node from, const PacketRequest& /*order*/, std::uint64_t cycle) {
    NodeState& node = nodes_[from.value];
    node.finish = std::max(node.finish, cycle);
}

void CollectiveRun::on_received(Node at, const PacketRequest& /*order*/, std::uint64_t cycle) {
    NodeState& node = nodes_[at.value];
    if (++node.received < node.expected) return;
    node.finish = std::max(node.finish, cycle + costs_.receive + costs_.latency);
}

std::uint64_t CollectiveRun::steps_done() const {
    std::uint64_t sum = 0;
    for (const NodeState& node : nodes_) sum += node.received;
    return sum;
}

std::uint64_t CollectiveRun::end() const { return std::ranges::max(nodes_, {}, &NodeState::finish).finish; }

std::string CollectiveRun::describe_first_waiting() const {
    for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
        const NodeState& state = nodes_[node];
        if (state.next != never) return "node " + std::to_string(node) + " waits to send";
        if (state.received < state.expected)
            return "node " + std::to_string(node) + " has received " + std::to_string(state.received) +
                   " of " + std::to_string(state.expected) + " packets";
    }
    return "no node waits";
}

}  // namespace topoloom
