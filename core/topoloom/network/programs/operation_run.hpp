// SPDX-License-Identifier: BSD-3-Clause
// Execution of an operation graph as a workload: each operation starts when its dependences are done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <queue>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "topoloom/network/programs/finite_workload.hpp"
#include "topoloom/network/programs/nic_queues.hpp"
#include "topoloom/network/programs/operations.hpp"
#include "topoloom/network/programs/packet_format.hpp"
#include "topoloom/network/programs/program_run.hpp"

namespace topoloom {

/// Executes an operation graph. Work occupies its processor for the duration of the work, a send for the
/// sender overhead. A processor executes operations in the order in which they become ready, then by number.
/// A send ends when its last packet has left. A receive ends when it has begun and its processor has handled
/// the arrived message. Intra-node messages bypass the network; inter-node messages use the NIC, to which
/// each rank passes its first ready messages. Memory: a few words per operation.
class OperationRun final : public FiniteWorkload {
   public:
    /// The run refers to the graph. `nanosecond` is the number of cycles per nanosecond of work. Fractions of
    /// a cycle carry over to the next operation of the processor. Throws the same errors as NicQueues and
    /// require_packet_format(), and Error for work that overflows the cycle count.
    OperationRun(const OperationGraph& graph, std::span<const Node> node_of_rank, std::size_t nodes,
                 const PacketFormat& format, const MessageCycles& costs, double nanosecond);

    [[nodiscard]] std::uint32_t longest_packet() const override {
        return format_.flit_count(format_.payload);
    }
    [[nodiscard]] std::uint64_t next(Node node) const override;
    [[nodiscard]] PacketRequest take(Node node, std::uint64_t cycle) override;
    void on_sent(Node node, const PacketRequest& order, std::uint64_t cycle) override;
    void on_received(Node node, const PacketRequest& order, std::uint64_t cycle) override;

    [[nodiscard]] std::size_t rank_count() const { return ranks_.size(); }
    /// The cycle in which the rank completed its last operation.
    [[nodiscard]] std::uint64_t finish(Rank rank) const { return ranks_[rank.value].since; }
    [[nodiscard]] bool is_done() const override { return steps_done() == steps(); }
    /// Number of completed operations.
    [[nodiscard]] std::uint64_t steps_done() const override;
    [[nodiscard]] std::uint64_t steps() const override { return graph_.operations().size(); }
    [[nodiscard]] std::uint64_t end() const override;
    /// Describes an operation.
    [[nodiscard]] std::string describe_first_waiting() const override;

   private:
    /// Events of one cycle are processed in this order.
    enum class EventKind : std::uint8_t { starts, ends, can_begin, can_go, arrives };

    struct Event {
        std::uint64_t cycle;
        EventKind kind;
        OperationId operation;

        friend bool operator>(const Event& a, const Event& b) {
            return std::tie(a.cycle, a.kind, a.operation.value) >
                   std::tie(b.cycle, b.kind, b.operation.value);
        }
    };
    struct OperationState {
        std::uint32_t waits;            // unfinished dependences
        bool has_begun = false;         // for a receive
        std::uint64_t packets = 0;      // packets that a receive still waits for
        std::uint64_t handled = never;  // cycle in which the message was handled
    };
    struct Processor {
        std::uint64_t busy = 0;  // cycle until which the processor is busy
        double rest = 0;         // fraction of a cycle carried over
    };
    struct RankState {
        std::vector<Processor> processors{};
        std::uint64_t since = 0;
        std::vector<OperationId> sends{};  // ready sends, of which the first `opened` have open messages
        std::size_t opened = 0;
    };
    struct NodeState {
        std::priority_queue<Event, std::vector<Event>, std::greater<>> events{};
        std::uint64_t memory_free = 0;
        std::uint64_t done = 0;  // operations
    };

    [[nodiscard]] NodeState& node_of(const RankOperation& operation) {
        return nodes_[nics_.node_of(operation.rank.value).value];
    }
    [[nodiscard]] Processor& processor_of(const RankOperation& operation);
    void schedule(OperationId id, EventKind kind, std::uint64_t cycle);
    /// Processes the events of a node up to a cycle.
    void process_until(NodeState& node, std::uint64_t until);
    void process_event(const Event& event);
    void begin_operation(OperationId id, std::uint64_t cycle);
    void start_operation(OperationId id, std::uint64_t cycle);
    void send_intra_node(OperationId id, std::uint64_t cycle);
    void open_send(OperationId send, std::uint64_t cycle);
    void open_messages(std::uint32_t rank, std::uint64_t cycle);
    void record_arrival(OperationId receive, std::uint64_t cycle);
    void release_dependents(OperationId id, bool on_start, std::uint64_t cycle);

    const OperationGraph& graph_;
    PacketFormat format_;
    MessageCycles costs_;
    double nanosecond_;
    std::vector<OperationState> states_;
    std::vector<RankState> ranks_;
    std::vector<NodeState> nodes_;
    NicQueues nics_;  // message numbers are the ids of send operations
};

}  // namespace topoloom
