// SPDX-License-Identifier: BSD-3-Clause
// Simulation state of input-queued routers and of sending and receiving nodes.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "topoloom/network/arbiter.hpp"
#include "topoloom/network/delay_lines.hpp"
#include "topoloom/network/flit.hpp"
#include "topoloom/network/input_queued/input_queued.hpp"
#include "topoloom/network/routes/packet_pool.hpp"
#include "topoloom/network/routes/virtual_channels.hpp"
#include "topoloom/network/shards.hpp"

namespace topoloom {

/// The simulation state. Each router and node belongs to one thread; threads communicate only through delay
/// lines. Line numbers keep the lines of a thread contiguous. Flit lines are inputs, then exits; credit lines
/// are outputs, then entries.
class InputQueuedNetwork final : public PacketNetwork {
   public:
    InputQueuedNetwork(const Fabric& fabric, const Paths& paths, Workload& workload,
                       const SwitchOptions& options, std::uint64_t seed, int threads,
                       std::span<const ChannelTimes> times);

    void run(std::uint64_t cycles) override;
    [[nodiscard]] std::uint64_t cycle() const override { return now_; }
    [[nodiscard]] std::uint64_t next_event() const override;
    [[nodiscard]] std::vector<std::uint64_t> lags() const override;
    [[nodiscard]] ReceivedPackets take_received() override;
    [[nodiscard]] std::uint64_t flit_hops() const override;
    [[nodiscard]] std::vector<std::uint64_t> carried() const override;
    [[nodiscard]] BufferUsage usage() const override;
    [[nodiscard]] std::string describe_deadlock() const override;
    void check() const override;

   private:
    /// Credits of an exit, which always accepts flits.
    static constexpr std::uint32_t unlimited_credits = no_index;

    /// The queue of a virtual channel at an input.
    struct Queue {
        std::uint64_t ready = 0;  // first cycle in which the front packet can make requests
        VcMask open = 0;          // virtual channels that the packet may use at the output
        std::uint16_t begin = 0;
        std::uint16_t count = 0;
        std::uint16_t output = 0;  // output of the router that the front packet requests
        std::uint8_t vc = 0;       // allocated virtual channel of the output
    };

    /// Virtual channel masks of an input.
    struct Input {
        VcMask filled = 0;   // virtual channels that contain flits
        VcMask waiting = 0;  // virtual channels whose front packet requests an output virtual channel
        VcMask active = 0;   // virtual channels whose front packet has an output virtual channel
    };
    /// The NIC of a node and the packet that it is sending.
    struct Sender {
        Rng ways;
        std::uint64_t next;  // cycle in which the next packet is created
        std::uint32_t packet = no_index;
        std::uint32_t left = 0;          // remaining flits of the current packet
        std::uint32_t arrival_line = 0;  // arrival line of the entry channel
        std::uint32_t credit_line = 0;
        std::uint32_t entry_router = 0;
        VcMask open = 0;
        std::uint8_t vc = 0;      // last allocated
        std::uint64_t flits = 0;  // number of flits sent since the last take_received()
        PathCache path{};
    };
    /// Shard, counters and scratch memory of a thread.
    struct alignas(64) Worker {
        std::uint32_t number;
        Shard shard;
        std::vector<std::uint32_t> entry_lines{}, exit_lines{};
        std::uint64_t now = 0;
        std::uint64_t flit_hops = 0;
        /// First cycle in which no flits or credits from this shard are in flight.
        std::uint64_t idle_from = 0;
        std::uint64_t sent = 0;   // flits sent by nodes
        std::uint64_t taken = 0;  // flits received by nodes
        ReceivedPackets received{};
        Paths::Workspace path{};
        std::vector<Grant> grants{}, accepted{};  // scratch memory for the current router
        std::vector<std::uint32_t> asked{}, granted{};
        Matching matching{};
        std::vector<std::uint32_t>
            chosen_counts{};  // [output of the current router]: packets that chose it in this cycle
    };

    void number_lines();
    void set_times(std::span<const ChannelTimes> times);
    void queue_by_output();
    void make_worker(Shard shard);
    void step_cycle(Worker& worker);
    /// Whether no flits or credits are in flight or buffered in any shard.
    [[nodiscard]] bool is_idle(std::uint64_t now) const;
    void serve_nodes(Worker& worker);
    void send(Worker& worker, Node node);
    void update_due_cycle(Node node) {
        const Sender& sender = senders_[node.value];
        due_[node.value] = sender.packet == no_index ? sender.next : 0;
    }
    bool begin_packet(Worker& worker, Node node);
    void receive(Worker& worker, Flit flit);
    void take_arrivals(std::uint32_t router, std::uint64_t now);
    void take_credits(std::uint32_t router, std::uint64_t now);
    void take_credit(std::uint32_t line, std::uint8_t& credit) {
        if (credit == 0) return;
        ++credits_[line * vcs_ + credit - 1U];
        credit = 0;
    }
    /// Several threads may mark arrivals at a router in the same cycle.
    void mark_arrival(std::uint32_t router, std::uint64_t arrival) {
        std::atomic_ref(arrivals_.at(arrival)[router]).store(1, std::memory_order_relaxed);
    }
    /// Whether a slow channel is still busy with the previous flit.
    [[nodiscard]] bool is_busy(std::uint32_t arrival_line, std::uint64_t now) const {
        return paced_ && taken_until_[arrival_line] > now * ChannelTimes::cycle + ChannelTimes::cycle - 1;
    }
    /// Records that a flit enters the channel.
    void occupy_channel(std::uint32_t arrival_line, std::uint64_t now) {
        ++carried_[arrival_line];
        if (!paced_) return;
        std::uint64_t& until = taken_until_[arrival_line];
        until = std::max(until, now * ChannelTimes::cycle) + period_[arrival_line];
    }
    /// The cycle in which a channel is free again after a flit that enters in this cycle.
    [[nodiscard]] std::uint64_t channel_free_at(std::uint32_t arrival_line, std::uint64_t now) const {
        if (!paced_) return now + 1;
        return (taken_until_[arrival_line] + ChannelTimes::cycle - 1) / ChannelTimes::cycle;
    }
    template <bool in_turns>
    void allocate(Worker& worker, std::uint32_t router);
    template <bool in_turns>
    void allocate_vcs(Worker& worker, std::uint32_t router);
    template <bool in_turns>
    void allocate_switch(Worker& worker, std::uint32_t router);
    void match_switch(Worker& worker, std::uint32_t router);
    /// Priority of a packet for the age and random arbiters; the smallest value wins.
    [[nodiscard]] std::uint32_t arbiter_priority(std::uint64_t now, std::uint32_t router,
                                                 std::uint32_t packet) {
        if (options_.arbiter == Arbiter::random) return choices_[router].next() >> 1;
        constexpr std::uint64_t oldest = (1U << 31) - 1;
        return static_cast<std::uint32_t>(oldest - std::min(now - packets_[packet].order.made, oldest));
    }
    /// The virtual channels that the packet may occupy at the next router, given the output that it uses
    /// there.
    [[nodiscard]] VcMask queues_after_next_hop(std::uint32_t packet) const {
        const Hop* const next = packets_.next_hop(packet);
        return next == nullptr ? vc_range(0, vcs_) : queues_of_[fabric_.channel(next->channel).output];
    }
    void traverse_crossbar(Worker& worker, std::uint32_t router, std::uint32_t input, std::uint32_t vc);
    void choose_outputs(Worker& worker, std::uint32_t router);
    void choose_output(Worker& worker, std::uint32_t router, Queue& queue, std::uint32_t packet);
    [[nodiscard]] std::vector<std::uint32_t> find_blocking_queues(std::uint32_t input,
                                                                  std::uint32_t vc) const;
    void fix_escape_path(std::uint32_t vc, std::uint32_t packet);
    void register_head(std::uint32_t input, std::uint32_t vc, std::uint64_t since);
    [[nodiscard]] Queue& queue(std::uint32_t input, std::uint32_t vc) {
        return queues_[std::size_t{input} * vcs_ + vc];
    }
    [[nodiscard]] Flit& flit_at(std::uint32_t input, std::uint32_t vc, std::uint32_t place) {
        return flits_[(std::size_t{input} * vcs_ + vc) * options_.buffer + place];
    }
    [[nodiscard]] std::uint32_t wrap_buffer_index(std::uint32_t number) const {
        return number >= options_.buffer ? number - options_.buffer : number;
    }
    /// Number of outstanding credits of a channel, in flits.
    [[nodiscard]] std::uint32_t outstanding_credits(ChannelId channel) const {
        const std::uint32_t* const credits =
            credits_.data() + std::size_t{credit_line_[channel.value]} * vcs_;
        std::uint32_t sum = 0;
        for (std::uint32_t vc = 0; vc < vcs_; ++vc)
            if (credits[vc] != unlimited_credits) sum += options_.buffer - credits[vc];
        return sum;
    }
    /// The subset of virtual channels with enough credits for a packet to start.
    [[nodiscard]] VcMask select_vcs_with_credits(std::size_t credit_line, VcMask some) const {
        VcMask found = 0;
        for (; some != 0; some &= some - 1) {
            const auto vc = static_cast<std::uint32_t>(std::countr_zero(some));
            if (credits_[credit_line * vcs_ + vc] >= room_) found |= VcMask{1} << vc;
        }
        return found;
    }

    const Fabric& fabric_;
    const Paths& paths_;
    Workload& workload_;
    const SwitchOptions options_;
    const std::uint32_t vcs_;
    const ClassedVcs classed_;
    const VcMask chosen_;  // virtual channels that adaptive packets may use
    const bool matches_;   // whether the allocator needs a request matrix
    /// Longest and shortest delay of a channel, in cycles.
    const std::uint32_t longest_delay_, shortest_delay_;
    const bool paced_;          // whether some channels move less than one flit per cycle
    const std::uint32_t room_;  // credits that a packet needs to allocate a virtual channel
    std::uint64_t now_ = 0;
    const Shards shards_;
    const std::uint32_t ahead_;  // number of cycles that one thread can be ahead of another
    std::vector<Worker> workers_;
    std::vector<std::uint32_t> delay_, period_;         // [line of arrivals]
    std::vector<std::uint32_t> credit_delay_;           // [input]
    std::vector<std::uint64_t> taken_until_, carried_;  // [line of arrivals]
    PacketPool packets_;
    std::vector<Sender> senders_;     // [node]
    std::vector<std::uint64_t> due_;  // [node]: first cycle in which the node has a flit to send
    std::vector<std::uint32_t> arrival_line_, credit_line_;  // [channel]
    std::vector<std::uint32_t> output_arrivals_;             // [output]: line of the channel
    std::vector<std::uint32_t> input_credits_;               // [input]: line of the channel
    std::vector<std::uint32_t> credits_;                     // [credit line][vc]
    std::vector<VcMask> free_;                               // [output]: unallocated virtual channels
    DelayLines<Flit> moving_;
    DelayLines<std::uint8_t> returning_;  // 1 + virtual channel of the credit
    /// [router, then exit]: 1 if something arrives; the last entry is the null receiver.
    DelayLines<std::uint8_t> arrivals_;
    std::vector<std::uint32_t> next_router_;      // [output]: receiver of flits, as index of arrivals_
    std::vector<std::uint32_t> credited_router_;  // [input]: receiver of its credits, as index of arrivals_
    std::vector<Input> inputs_;
    std::vector<Queue> queues_;            // [input][vc]
    std::vector<Flit> flits_;              // [input][vc][place]
    std::vector<std::uint32_t> stored_;    // [router]: number of stored flits
    std::vector<RoundRobin> vc_turn_;      // [output][vc]: over the queues of the router
    std::vector<RoundRobin> choice_turn_;  // [input][vc]: over the virtual channels of an output
    std::vector<RoundRobin> output_turn_;  // [output]: over inputs
    std::vector<RoundRobin> input_turn_;   // [input]: over outputs
    std::vector<RoundRobin> queue_turn_;   // [input]: over the virtual channels of the input
    std::vector<Rng> choices_;             // [router]: for adaptive routing and the random arbiter
    /// [output]: virtual channels of this output, if queues are by output.
    std::vector<VcMask> queues_of_;
    const Queued queued_ = [this](ChannelId channel) { return outstanding_credits(channel); };
};

}  // namespace topoloom
