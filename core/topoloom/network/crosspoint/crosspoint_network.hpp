// SPDX-License-Identifier: BSD-3-Clause
// Simulation state of crosspoint switches: outputs, combining units and nodes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/network/arbiter.hpp"
#include "topoloom/network/crosspoint/calendar.hpp"
#include "topoloom/network/crosspoint/crosspoint.hpp"
#include "topoloom/network/crosspoint/group_trees.hpp"
#include "topoloom/network/routes/node_channels.hpp"
#include "topoloom/network/routes/packet_pool.hpp"
#include "topoloom/network/routes/virtual_channels.hpp"

namespace topoloom {

/// The simulation state. Each cycle first processes arrivals; then awake outputs, units and nodes send. Sinks
/// are numbered with outputs first, then units; sources with inputs first, then units.
class CrosspointNetwork final : public PacketNetwork {
   public:
    CrosspointNetwork(const Fabric& fabric, const Paths& paths, Workload& workload,
                      const SwitchOptions& options, std::uint64_t seed, std::span<const ChannelTimes> times,
                      std::span<const SwitchGroup> groups, const CombineOptions& combine);

    void run(std::uint64_t cycles) override;
    [[nodiscard]] std::uint64_t cycle() const override { return now_; }
    [[nodiscard]] std::uint64_t next_event() const override;
    [[nodiscard]] std::vector<std::uint64_t> lags() const override;
    [[nodiscard]] ReceivedPackets take_received() override;
    [[nodiscard]] std::uint64_t flit_hops() const override { return flit_hops_; }
    [[nodiscard]] std::vector<std::uint64_t> carried() const override { return carried_; }
    [[nodiscard]] BufferUsage usage() const override;
    void check() const override;

   private:
    enum class EventKind : std::uint8_t {
        enter,      // the head of a packet reaches its input, or a result reaches its unit's buffers
        receive,    // the tail of a packet reaches a node
        credit,     // a credit returns to a window
        wake_sink,  // an output can send again
        send,       // a node can send
        begin,      // an input is free for its new front packet
        combined,   // a unit has processed a packet
        left,       // a unit's result has left the switch
    };
    struct Event {
        EventKind what;
        std::uint32_t whose;      // index of the packet, window, sink, node or vertex
        std::uint32_t place = 0;  // index of the receiving node, or of the combiner at the vertex
    };
    /// Position of a packet in its group's tree. The default is no position.
    struct TreePosition {
        std::uint32_t vertex = no_index;
        std::uint32_t branch = no_index;  // branch on which the packet arrives
    };
    /// A packet in flight to a switch or in a buffer of the switch.
    struct StoredPacket {
        std::uint32_t source = no_index;  // input or unit that stores the packet
        std::uint32_t window = no_index;  // window that the packet occupies; none if it comes from a unit
        std::uint32_t lane = 0;           // lane whose queues the packet uses
        std::uint32_t vertex = no_index;  // vertex of the group's tree; none if the packet is for one node
        /// Branch on which the packet arrived; none if it comes from a unit.
        std::uint32_t branch = no_index;
        std::uint32_t combiner = no_index;  // combiner that produced the packet as its result
        std::uint32_t copies = 0;           // number of copies that have not begun to leave
        std::uint32_t behind = no_index;    // next packet in the queue of the input
        std::uint64_t tail = 0;             // cycle in which the tail arrives
        std::uint64_t gone = 0;             // cycle in which the tail leaves
        std::uint64_t operation = 0;        // reduction for which a unit combines the packet
    };
    /// A packet or one of its copies in a queue.
    struct PacketCopy {
        std::uint32_t packet;
        std::uint32_t branch;  // branch on which a group's packet leaves
        std::uint32_t next;    // next copy in the queue or in the free list
        std::uint64_t ready;   // cycle from which the copy can leave
    };
    struct Queue {
        std::uint32_t first = no_index, last = no_index;
    };
    /// The queue of a lane at an input.
    struct InputQueue {
        std::uint32_t first = no_index, last = no_index;
        std::uint64_t taken_until = 0;  // time until which the input is sending, in parts of a cycle
        std::uint64_t begun = never;    // cycle in which copies of the first packet began to leave
    };
    /// An output or combining unit. A sink arbitrates among queues, one per source and lane of the switch.
    struct Sink {
        std::size_t first_queue = 0;
        std::size_t first_word = 0;  // index of the sink's first word in filled_
        std::uint32_t requesters = 0;
        std::uint32_t router = 0;
        RoundRobin turn{};
        std::uint64_t taken_until = 0;  // time until which the sink is sending, in parts of a cycle
        std::uint32_t waiting = 0;      // number of flits in the sink's queues
        bool is_awake = false;          // whether to serve the queues in this cycle
        std::uint64_t woken = 0;        // cycle in which a busy sink serves its queues again
    };
    /// Numbers of the ports and queues of a router.
    struct RouterPorts {
        std::uint32_t lanes = 0;  // number of lanes: virtual channels, then groups with separate windows
        std::uint32_t units = 0;
        std::uint32_t first_unit = 0;
        std::uint32_t first_input_queue = 0;
    };
    struct Sender {
        Rng ways;
        std::uint64_t next;           // cycle in which the next packet is created
        std::uint64_t woken = never;  // scheduled cycle of the next attempt to send
        std::uint64_t free = 0;       // cycle in which the busy channel becomes free
        std::uint32_t packet = no_index;
        ChannelId channel{};
        std::uint32_t window = no_index;  // window of the group, if separate
        VcMask open = 0;                  // allowed virtual channels if there is no window
        TreePosition place{};
        PathCache path{};
        bool is_awake = false;
        std::uint64_t flits = 0;  // number of flits sent since the last take_received()
    };

    void set_times(std::span<const ChannelTimes> times);
    void number_windows(bool shares);
    void number_ports();
    void set_combiners(TreeVertex& vertex);
    void number_queues();
    void number_input_queues();

    void step_cycle();
    void process_event(const Event& event);
    void schedule_event(std::uint64_t cycle, EventKind what, std::uint32_t whose, std::uint32_t place = 0) {
        calendar_.add_event(cycle, {what, whose, place});
    }
    void wake_sink(std::uint32_t sink) {
        Sink& at = sinks_[sink];
        if (is_busy(at.taken_until)) return wake_sink_when_free(sink);
        if (!std::exchange(at.is_awake, true)) awake_sinks_.push_back(sink);
    }
    void wake_sink_when_free(std::uint32_t sink) {
        Sink& at = sinks_[sink];
        const std::uint64_t free = std::max(at.taken_until / ChannelTimes::cycle, now_ + 1);
        if (std::exchange(at.woken, free) != free) schedule_event(free, EventKind::wake_sink, sink);
    }
    void wake_sender(std::uint32_t node) {
        if (!std::exchange(senders_[node].is_awake, true)) awake_nodes_.push_back(node);
    }

    void enter_switch(std::uint32_t packet);
    [[nodiscard]] ChannelId choose_channel(std::uint32_t router, Node to);
    void enter_tree(std::uint32_t packet);
    void enqueue(std::uint32_t packet, std::uint32_t sink, std::uint32_t branch);
    void serve_sink(std::uint32_t sink);
    [[nodiscard]] bool can_send(std::uint32_t sink, const PacketCopy& copy);
    [[nodiscard]] bool has_room(const PacketCopy& copy, ChannelId channel) const;
    [[nodiscard]] std::uint32_t arbiter_priority(std::uint32_t packet);
    [[nodiscard]] std::uint32_t choose_window(const PacketCopy& copy, ChannelId channel) const;
    [[nodiscard]] std::uint32_t vc_with_most_credits(ChannelId channel, VcMask open) const;
    [[nodiscard]] PacketCopy take_copy(std::uint32_t sink, std::uint32_t place);
    void send(std::uint32_t sink, const PacketCopy& copy);

    [[nodiscard]] bool has_input_queues() const { return options_.fanout != Fanout::crosspoints; }
    [[nodiscard]] std::uint32_t queue_index(const StoredPacket& stored, std::uint32_t router) const {
        return source_index(stored.source, router) * ports_[router].lanes + stored.lane;
    }
    [[nodiscard]] InputQueue& input_queue_of(const StoredPacket& stored) {
        const std::uint32_t router = router_of(stored.source);
        return input_queues_[ports_[router].first_input_queue + queue_index(stored, router)];
    }
    void enqueue_at_input(std::uint32_t packet);
    [[nodiscard]] bool is_at_front(std::uint32_t packet);
    [[nodiscard]] bool can_send_all(std::uint32_t packet);
    void send_all(std::uint32_t packet);
    void record_departure(std::uint32_t packet, std::uint32_t sink);
    void wake_front_outputs(std::uint32_t number);
    void finish_copy(std::uint32_t packet, std::uint64_t gone);
    void return_credits(const StoredPacket& stored, std::uint32_t flits, std::uint64_t gone);
    void transmit(std::uint32_t packet, Node to, TreePosition place, ChannelId id, std::uint32_t window,
                  std::uint64_t gone);

    [[nodiscard]] static std::uint32_t combiner_for(const TreeVertex& vertex, const StoredPacket& stored);
    [[nodiscard]] bool can_combine(const StoredPacket& stored) const;
    void start_combining(std::uint32_t sink, std::uint32_t packet);
    void combine(std::uint32_t packet);

    [[nodiscard]] std::uint32_t make_packet(const PacketRequest& order, std::span<const Hop> path);
    void end_packet(std::uint32_t packet);
    void begin_packet(std::uint32_t node);
    void wake_sender_for_next(std::uint32_t node);
    void send_from(std::uint32_t node);
    void receive(std::uint32_t packet, std::uint32_t node);

    [[nodiscard]] bool is_group(Node to) const { return to.value >= fabric_.node_count(); }
    [[nodiscard]] bool is_unit(std::uint32_t sink) const { return sink >= fabric_.output_count(); }
    [[nodiscard]] std::uint32_t router_of(std::uint32_t source) const {
        const auto inputs = static_cast<std::uint32_t>(fabric_.input_count());
        return source < inputs ? fabric_.channel(fabric_.channel_at_input(source)).to
                               : router_of_unit_[source - inputs];
    }
    /// Index of the source among the sources of its router.
    [[nodiscard]] std::uint32_t source_index(std::uint32_t source, std::uint32_t router) const {
        const auto inputs = static_cast<std::uint32_t>(fabric_.input_count());
        if (source < inputs) return source - fabric_.first_input(router);
        const auto here = static_cast<std::uint32_t>(fabric_.inputs_of(router).size());
        return here + source - inputs - ports_[router].first_unit;
    }
    [[nodiscard]] std::uint32_t unit_of(const TreeVertex& vertex, const Combiner& combiner) const {
        return static_cast<std::uint32_t>(fabric_.output_count()) + ports_[vertex.router].first_unit +
               combiner.unit;
    }
    [[nodiscard]] std::uint32_t source_of(const TreeVertex& vertex, const Combiner& combiner) const {
        return static_cast<std::uint32_t>(fabric_.input_count()) + ports_[vertex.router].first_unit +
               combiner.unit;
    }
    [[nodiscard]] std::uint32_t output_of(ChannelId channel) const { return fabric_.channel(channel).output; }
    [[nodiscard]] std::uint32_t credits_on(ChannelId channel) const {
        std::uint32_t sum = 0;
        for (std::uint32_t vc = 0; vc < vcs_; ++vc) sum += credits_[channel.value * vcs_ + vc];
        return sum;
    }
    /// Flits queued for a channel, plus the flits of a longest packet for each outstanding credit of the
    /// channel.
    [[nodiscard]] std::uint32_t queued_flits(ChannelId channel) const {
        const Channel& one = fabric_.channel(channel);
        const std::uint32_t here = one.is_entry() ? 0 : sinks_[one.output].waiting;
        return here + (one.is_exit() ? 0 : (vcs_ * room_ - credits_on(channel)) * longest_packet_);
    }
    [[nodiscard]] bool is_busy(std::uint64_t taken_until) const {
        return taken_until > now_ * ChannelTimes::cycle + ChannelTimes::cycle - 1;
    }
    /// Reserves a resource for `flits` flits, each for the time `period`. Returns the number of cycles from
    /// the first flit to the last.
    std::uint64_t reserve_time(std::uint64_t& taken_until, std::uint32_t flits, std::uint32_t period) const {
        taken_until = std::max(taken_until, now_ * ChannelTimes::cycle) + std::uint64_t{flits} * period;
        return transfer_cycles(flits, period);
    }
    /// Number of cycles from the first flit to the last.
    [[nodiscard]] static std::uint64_t transfer_cycles(std::uint32_t flits, std::uint32_t period) {
        return std::uint64_t{flits - 1} * period / ChannelTimes::cycle;
    }

    const Fabric& fabric_;
    const Paths& paths_;
    Workload& workload_;
    const SwitchOptions options_;
    const CombineOptions combine_;
    const std::uint32_t vcs_;
    const std::uint32_t longest_packet_;
    const std::uint32_t room_;    // number of packets that fit in a buffer
    const std::uint32_t inside_;  // number of cycles from an input or unit to an output
    const ClassedVcs classed_;
    std::uint64_t now_ = 0;
    GroupTrees trees_;
    std::vector<std::uint32_t> delay_, period_;         // [channel]
    std::vector<std::uint64_t> taken_until_, carried_;  // [channel]; taken_until_ is only set for entries
    /// [window]; window channel * vcs_ + vc belongs to a virtual channel.
    std::vector<std::uint32_t> credits_;
    std::vector<ChannelId> channel_of_;  // [window]
    std::vector<Node> node_of_;          // [entry channel]
    std::vector<RouterPorts> ports_;     // [router]
    std::vector<Sink> sinks_;
    std::vector<std::uint32_t> router_of_unit_;
    std::vector<Queue> queues_;
    std::vector<InputQueue> input_queues_;  // [router][input][lane]
    std::vector<std::uint64_t> filled_;     // a bit per queue, set if it has packets; grouped by sink
    std::vector<PacketCopy> copies_;
    std::uint32_t unused_copy_ = no_index;
    PacketPool packets_;
    std::vector<StoredPacket> stored_;  // [packet]
    std::vector<Sender> senders_;
    Rng choices_;
    Paths::Workspace path_;
    const Queued queued_ = [this](ChannelId channel) { return queued_flits(channel); };
    Calendar<Event> calendar_;
    /// Wake-up times (cycle, node) of idle nodes. Nodes woken early appear twice.
    std::priority_queue<std::pair<std::uint64_t, std::uint32_t>,
                        std::vector<std::pair<std::uint64_t, std::uint32_t>>, std::greater<>>
        later_;
    std::vector<Event> current_events_;
    std::vector<std::uint32_t> awake_sinks_, awake_nodes_;
    std::uint64_t flit_hops_ = 0;
    std::uint64_t made_ = 0, ended_ = 0;  // numbers of packets made and ended, including copies
    std::uint64_t flits_stored_ = 0;
    std::uint64_t flits_room_ = 0;  // capacity of all buffers in flits
    ReceivedPackets received_;
};

}  // namespace topoloom
