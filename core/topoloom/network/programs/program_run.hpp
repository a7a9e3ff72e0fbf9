// SPDX-License-Identifier: BSD-3-Clause
// Execution of a program as a workload: ranks on nodes, messages as packets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "topoloom/network/programs/finite_workload.hpp"
#include "topoloom/network/programs/nic_queues.hpp"
#include "topoloom/network/programs/packet_format.hpp"
#include "topoloom/network/programs/program.hpp"

namespace topoloom {

/// Overheads per message in cycles; a rank handles one message at a time.
struct MessageCycles {
    std::uint64_t send = 0;     // sender overhead, before the first packet
    std::uint64_t receive = 0;  // receiver overhead, after the last packet
    std::uint64_t latency = 0;  // additional latency, during which the rank can handle other messages
    double memory_rate = 0;     // bytes per cycle of all intra-node messages of a node; 0: unlimited
    std::uint64_t memory = 0;   // sender overhead of an intra-node message
};

/// Executes a program. A rank opens its first unsent messages on the NIC of its node. Intra-node messages
/// bypass the network. Times are computed as soon as all values that they depend on are known, so packets are
/// a node's only events. Memory: a few words per rank, and the rank's messages of one step.
class ProgramRun final : public FiniteWorkload {
   public:
    /// The run refers to the program. Throws the same errors as NicQueues and require_packet_format().
    ProgramRun(const Program& program, std::span<const Node> node_of_rank, std::size_t nodes,
               const PacketFormat& format, const MessageCycles& costs);

    [[nodiscard]] std::uint32_t longest_packet() const override {
        return format_.flit_count(format_.payload);
    }
    [[nodiscard]] std::uint64_t next(Node node) const override { return nodes_[node.value].next; }
    [[nodiscard]] PacketRequest take(Node node, std::uint64_t cycle) override;
    void on_sent(Node node, const PacketRequest& order, std::uint64_t cycle) override;
    void on_received(Node node, const PacketRequest& order, std::uint64_t cycle) override;

    [[nodiscard]] std::size_t rank_count() const { return ranks_.size(); }
    /// The cycle in which the rank completed its last step.
    [[nodiscard]] std::uint64_t finish(Rank rank) const { return ranks_[rank.value].since; }
    /// Whether all ranks are done.
    [[nodiscard]] bool is_done() const override;
    [[nodiscard]] std::uint64_t steps_done() const override;
    [[nodiscard]] std::uint64_t steps() const override { return program_.step_count() * ranks_.size(); }
    [[nodiscard]] std::uint64_t end() const override;
    /// Describes a rank.
    [[nodiscard]] std::string describe_first_waiting() const override;

   private:
    /// Packets that arrived before the rank started their step.
    struct EarlyPackets {
        std::uint64_t step;
        std::uint64_t packets;
        std::uint64_t since;  // cycle
    };
    struct RankState {
        std::uint64_t step = never;  // number of the current step; `never` before the first step
        std::uint64_t since = 0;     // cycle in which the latest event of the step ended
        std::uint64_t busy = 0;      // cycle until which the rank handles messages
        std::uint64_t expected = 0;  // packets of the step that have not arrived
        std::uint32_t opened = 0;    // number of messages of the step that the rank has opened
        bool is_leaving = false;     // whether the last packet of a message is leaving
        std::vector<ProgramMessage> sends{};
        std::vector<EarlyPackets> early{};
    };
    struct NodeState {
        std::uint64_t next = never;
        std::uint64_t memory_free = 0;
        std::uint64_t steps_done = 0;
        std::uint32_t leaving = no_index;        // rank whose last packet of a message is leaving
        std::vector<std::uint32_t> advancing{};  // ranks that may have completed their steps
        std::vector<ProgramMessage> receives{};
    };

    void begin_steps(NodeState& node);
    bool begin_step(NodeState& node, std::uint32_t rank);
    void open_messages(NodeState& node, std::uint32_t rank);
    void deliver_intra_node(NodeState& node, std::uint32_t from, const ProgramMessage& message);
    void record_arrival(NodeState& node, std::uint32_t rank, std::uint64_t step, std::uint64_t packets,
                        bool is_last, std::uint64_t cycle);
    [[nodiscard]] bool is_step_complete(std::uint32_t rank) const {
        const RankState& state = ranks_[rank];
        return state.expected == 0 && !state.is_leaving && nics_.open_messages(rank).empty() &&
               state.opened == state.sends.size();
    }

    const Program& program_;
    PacketFormat format_;
    MessageCycles costs_;
    std::vector<RankState> ranks_;
    std::vector<NodeState> nodes_;
    NicQueues nics_;  // message numbers are the receiving ranks
};

}  // namespace topoloom
