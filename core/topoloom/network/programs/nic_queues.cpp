// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/programs/nic_queues.hpp"

#include <algorithm>
#include <utility>

#include "topoloom/base/error.hpp"

namespace topoloom {

NicQueues::NicQueues(std::size_t ranks, std::span<const Node> node_of_rank, std::size_t nodes)
    : ranks_(ranks),
      nodes_(nodes),
      by_node_(ranks),
      place_(ranks),
      node_of_(node_of_rank.begin(), node_of_rank.end()) {
    if (node_of_.size() != ranks)
        fail("the program has ", ranks, " ranks, but nodes are given for ", node_of_.size());
    for (const Node node : node_of_) {
        if (node.value >= nodes) fail("a rank is on node ", node.value, "; the machine has ", nodes);
        ++nodes_[node.value].end;
    }
    std::uint32_t sum = 0;
    for (NodeState& node : nodes_) {
        node.first = sum;
        sum += std::exchange(node.end, sum);
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        NodeState& node = nodes_[node_of_[rank].value];
        place_[rank] = node.end - node.first;
        by_node_[node.end++] = rank;
    }
}

std::uint64_t NicQueues::next_packet_cycle(Node node) const {
    std::uint64_t next = never;
    for (const std::uint32_t rank : ranks_of(node))
        for (const Message& message : ranks_[rank].open) next = std::min(next, message.ready);
    return next;
}

std::uint32_t NicQueues::find_sendable_message(const RankState& rank, std::uint64_t cycle) {
    const auto count = static_cast<std::uint32_t>(rank.open.size());
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t at = (rank.turn + i) % count;
        if (rank.open[at].ready <= cycle) return at;
    }
    return no_index;
}

NicQueues::Packet NicQueues::take_packet(Node node, std::uint64_t cycle, std::uint32_t payload) {
    NodeState& card = nodes_[node.value];
    const std::span<const std::uint32_t> ranks = ranks_of(node);
    const auto count = static_cast<std::uint32_t>(ranks.size());
    std::uint32_t rank = no_index, at = no_index;
    for (std::uint32_t i = 0; i < count && at == no_index; ++i) {
        const std::uint32_t place = (card.turn + i) % count;
        rank = ranks[place];
        at = find_sendable_message(ranks_[rank], cycle);
        if (at != no_index) card.turn = (place + 1) % count;
    }
    RankState& state = ranks_[rank];
    Message& message = state.open[at];
    const Packet packet{rank, message.number, message.left, message.left <= payload};
    message.left -= std::min<std::uint64_t>(message.left, payload);
    state.turn = packet.is_last ? at : at + 1;
    if (packet.is_last) state.open.erase(state.open.begin() + at);
    return packet;
}

}  // namespace topoloom
