// SPDX-License-Identifier: BSD-3-Clause
// NIC queues: select the rank and message of a node's next packet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/network/workload.hpp"

namespace topoloom {

/// For each rank, a queue of open messages. The ranks of a node share its NIC, which serves the ranks, and
/// the open messages of each rank, round-robin.
class NicQueues {
   public:
    /// Maximum number of open messages per rank.
    static constexpr std::size_t max_open_messages = 16;

    struct Message {
        std::uint32_t number;  // message number, defined by the caller
        std::uint64_t ready;   // first cycle in which its packets can be sent
        std::uint64_t left;    // bytes
    };
    struct Packet {
        std::uint32_t rank;
        std::uint32_t message;  // its number
        std::uint64_t left;     // unsent bytes of the message, including this packet
        bool is_last;           // whether this is the last packet of the message, which is then closed
    };

    /// Throws Error unless every rank has a valid node.
    NicQueues(std::size_t ranks, std::span<const Node> node_of_rank, std::size_t nodes);

    [[nodiscard]] std::size_t rank_count() const { return node_of_.size(); }
    [[nodiscard]] Node node_of(std::uint32_t rank) const { return node_of_[rank]; }
    [[nodiscard]] bool are_on_same_node(std::uint32_t from, std::uint32_t to) const {
        return node_of_[from] == node_of_[to];
    }
    [[nodiscard]] std::span<const std::uint32_t> ranks_of(Node node) const {
        return std::span(by_node_).subspan(nodes_[node.value].first,
                                           nodes_[node.value].end - nodes_[node.value].first);
    }
    /// Index of the rank among the ranks of its node.
    [[nodiscard]] std::uint32_t index_on_node(std::uint32_t rank) const { return place_[rank]; }

    /// Whether the rank can open another message.
    [[nodiscard]] bool can_open_message(std::uint32_t rank) const {
        return ranks_[rank].open.size() < max_open_messages;
    }
    [[nodiscard]] std::span<const Message> open_messages(std::uint32_t rank) const {
        return ranks_[rank].open;
    }
    void open_message(std::uint32_t rank, const Message& message) { ranks_[rank].open.push_back(message); }

    /// The cycle in which the next packet of a node can be sent, or `never` without open messages.
    [[nodiscard]] std::uint64_t next_packet_cycle(Node node) const;
    /// Removes the next packet of a node from its queue, and returns it. `cycle` must not be before
    /// next_packet_cycle().
    [[nodiscard]] Packet take_packet(Node node, std::uint64_t cycle, std::uint32_t payload);

   private:
    struct RankState {
        std::uint32_t turn = 0;
        std::vector<Message> open{};
    };
    struct NodeState {
        std::uint32_t first = 0, end = 0;  // begin of the node's range in by_node_
        std::uint32_t turn = 0;
    };
    /// The next open message of a rank, in round-robin order, that can send in this cycle, or no_index.
    [[nodiscard]] static std::uint32_t find_sendable_message(const RankState& rank, std::uint64_t cycle);

    std::vector<RankState> ranks_;
    std::vector<NodeState> nodes_;
    std::vector<std::uint32_t> by_node_;  // ranks
    std::vector<std::uint32_t> place_;    // [rank]
    std::vector<Node> node_of_;           // [rank]
};

}  // namespace topoloom
