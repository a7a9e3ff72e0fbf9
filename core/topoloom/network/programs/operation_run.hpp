// SPDX-License-Identifier: BSD-3-Clause
// Runs an operation graph as a workload: each operation starts when its dependences are done.
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

/// Work takes its processor for its time, a send for what a message costs its rank; a processor takes operations in the order
/// in which they could begin, and equals in that of their numbers. A send ends when its last packet has left, a receive when it has
/// begun and its message has come and been handled, by its processor. Messages inside a node go past the network, those to
/// other nodes by the card, which has the first of a rank that can go. Memory: a few words for each operation.
class OperationRun final : public FiniteWorkload {
   public:
    /// Keeps a reference to the graph. A nanosecond of work takes `nanosecond` cycles; of a cycle what one operation does not fill counts for
    /// the next one of its processor. Throws Error for what NicQueues and require_packet_format() reject, and work of more cycles than
    /// can be counted.
    OperationRun(const OperationGraph& graph, std::span<const Node> node_of_rank, std::size_t nodes,
                 const PacketFormat& format, const MessageCycles& costs, double nanosecond);

    [[nodiscard]] std::uint32_t longest_packet() const override { return format_.flits(format_.payload); }
    [[nodiscard]] std::uint64_t next(Node node) const override;
    [[nodiscard]] PacketRequest take(Node node, std::uint64_t cycle) override;
    void on_sent(Node node, const PacketRequest& order, std::uint64_t cycle) override;
    void on_received(Node node, const PacketRequest& order, std::uint64_t cycle) override;

    [[nodiscard]] std::size_t rank_count() const { return ranks_.size(); }
    /// The cycle in which a rank had done its last operation.
    [[nodiscard]] std::uint64_t finish(Rank rank) const { return ranks_[rank.value].since; }
    [[nodiscard]] bool is_done() const override { return steps_done() == steps(); }
    /// Operations.
    [[nodiscard]] std::uint64_t steps_done() const override;
    [[nodiscard]] std::uint64_t steps() const override { return graph_.operations().size(); }
    [[nodiscard]] std::uint64_t end() const override;
    /// An operation.
    [[nodiscard]] std::string describe_first_waiting() const override;

   private:
    /// In order of processing within a cycle.
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
        std::uint32_t waits;            // operations before it that have not ended
        bool has_begun = false;         // a receive
        std::uint64_t packets = 0;      // of a receive, that have not come
        std::uint64_t handled = never;  // the cycle in which its message was
    };
    struct Processor {
        std::uint64_t busy = 0;  // the cycle until which it is
        double rest = 0;         // of a cycle of work
    };
    struct RankState {
        std::vector<Processor> processors{};
        std::uint64_t since = 0;
        std::vector<OperationId> sends{};  // that can go, of which the first have been opened
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
    /// Processes events of a node up to a cycle.
    void process_until(NodeState& node, std::uint64_t until);
    void process(const Event& event);
    void begin(OperationId id, std::uint64_t cycle);
    void start(OperationId id, std::uint64_t cycle);
    void send_inside(OperationId id, std::uint64_t cycle);
    void open(OperationId send, std::uint64_t cycle);
    void open_messages(std::uint32_t rank, std::uint64_t cycle);
    void arrive(OperationId receive, std::uint64_t cycle);
    void release_dependents(OperationId id, bool on_start, std::uint64_t cycle);

    const OperationGraph& graph_;
    PacketFormat format_;
    MessageCycles costs_;
    double nanosecond_;
    std::vector<OperationState> states_;
    std::vector<RankState> ranks_;
    std::vector<NodeState> nodes_;
    NicQueues nics_;  // numbers of messages: their sends
};

}  // namespace topoloom
