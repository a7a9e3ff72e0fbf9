// SPDX-License-Identifier: BSD-3-Clause
// In-network collectives as a workload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "topoloom/base/unit.hpp"
#include "topoloom/network/crosspoint/switch_group.hpp"
#include "topoloom/network/programs/finite_workload.hpp"
#include "topoloom/network/programs/packet_format.hpp"
#include "topoloom/network/programs/program_run.hpp"

namespace topoloom {

/// Performs one collective per group, all with the same message size: a multicast from the root of the tree,
/// a reduction to the root, or an allreduce. An empty message is a barrier. A member divides its message
/// into packets and sends the first packet to each of its groups, then the second to each. So the members of
/// several groups all send in the same order.
class CollectiveRun final : public FiniteWorkload {
   public:
    /// `groups` are those of the network. Message costs count once per member: before its first packet, and
    /// after the last packet that it receives. Throws Error for formats that require_packet_format() rejects
    /// and for negative sizes.
    CollectiveRun(std::span<const SwitchGroup> groups, std::size_t nodes, Bytes bytes,
                  const PacketFormat& format, const MessageCycles& costs);

    [[nodiscard]] std::uint32_t longest_packet() const override {
        return format_.flit_count(format_.payload);
    }
    [[nodiscard]] std::uint64_t next(Node node) const override { return nodes_[node.value].next; }
    [[nodiscard]] PacketRequest take(Node node, std::uint64_t cycle) override;
    void on_sent(Node node, const PacketRequest& order, std::uint64_t cycle) override;
    void on_received(Node node, const PacketRequest& order, std::uint64_t cycle) override;

    [[nodiscard]] bool is_done() const override { return steps_done() == steps_; }
    [[nodiscard]] std::uint64_t steps_done() const override;
    [[nodiscard]] std::uint64_t steps() const override { return steps_; }
    [[nodiscard]] std::uint64_t end() const override;
    [[nodiscard]] std::string describe_first_waiting() const override;
    /// The cycle in which a node finished; 0 if the node is in no group.
    [[nodiscard]] std::uint64_t finish(Node node) const { return nodes_[node.value].finish; }

   private:
    struct NodeState {
        std::uint64_t next = never;
        std::vector<std::uint32_t> sends{};  // groups
        std::uint64_t sent = 0;              // packets
        std::uint64_t expected = 0;          // packets
        std::uint64_t received = 0;
        std::uint64_t finish = 0;
    };
    void add_member(const SwitchGroup& group, std::uint32_t number, Node member);

    std::size_t node_count_;
    PacketFormat format_;
    MessageCycles costs_;
    std::uint64_t bytes_ = 0;
    std::uint64_t packets_ = 0;  // of a message
    std::vector<NodeState> nodes_;
    std::uint64_t steps_ = 0;  // number of packets still to receive
};

}  // namespace topoloom
