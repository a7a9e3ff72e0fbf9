// SPDX-License-Identifier: BSD-3-Clause
// FIFO queues of packets at inputs.
#include "topoloom/network/crosspoint/crosspoint_network.hpp"

namespace topoloom {

void CrosspointNetwork::enqueue_at_input(std::uint32_t packet) {
    InputQueue& line = input_queue_of(stored_[packet]);
    (line.first == no_index ? line.first : stored_[line.last].behind) = packet;
    line.last = packet;
}

/// Whether the packet is first in its queue and can be sent: its input is idle, or began to send copies of
/// this packet in this cycle.
bool CrosspointNetwork::is_at_front(std::uint32_t packet) {
    const InputQueue& line = input_queue_of(stored_[packet]);
    return line.first == packet && (!is_busy(line.taken_until) || line.begun == now_);
}

/// Whether all outputs that the packet needs are free.
bool CrosspointNetwork::can_send_all(std::uint32_t packet) {
    const StoredPacket& stored = stored_[packet];
    const auto is_free = [&](ChannelId channel, std::uint32_t branch) {
        return !is_busy(sinks_[output_of(channel)].taken_until) &&
               has_room({packet, branch, no_index, now_}, channel);
    };
    if (stored.vertex == no_index) return is_free(packets_.hop(packet).channel, no_index);
    const std::vector<TreeBranch>& branches = trees_.vertices()[stored.vertex].branches;
    for (std::uint32_t b = 0; b < branches.size(); ++b)
        if (b != stored.branch && !is_free(branches[b].out, b)) return false;
    return true;
}

void CrosspointNetwork::send_all(std::uint32_t packet) {
    const StoredPacket stored = stored_[packet];
    const auto send_to = [&](ChannelId channel) {
        const std::uint32_t sink = output_of(channel);
        send(sink, take_copy(sink, queue_index(stored, sinks_[sink].router)));
    };
    if (stored.vertex == no_index) return send_to(packets_.hop(packet).channel);
    const std::vector<TreeBranch>& branches = trees_.vertices()[stored.vertex].branches;
    for (std::uint32_t b = 0; b < branches.size(); ++b)
        if (b != stored.branch) send_to(branches[b].out);
}

/// Records that an output has begun to send a copy of the packet.
void CrosspointNetwork::record_departure(std::uint32_t packet, std::uint32_t sink) {
    const StoredPacket& stored = stored_[packet];
    InputQueue& line = input_queue_of(stored);
    line.begun = now_;
    line.taken_until = std::max(line.taken_until, sinks_[sink].taken_until);
    schedule_event(line.taken_until / ChannelTimes::cycle, EventKind::begin,
                   static_cast<std::uint32_t>(&line - input_queues_.data()));
    if (stored.copies > 1) return;
    line.first = stored.behind;
    line.begun = never;
}

/// Wakes the outputs that the first packet of an input queue needs.
void CrosspointNetwork::wake_front_outputs(std::uint32_t number) {
    const std::uint32_t packet = input_queues_[number].first;
    if (packet == no_index) return;
    const StoredPacket& stored = stored_[packet];
    if (stored.vertex == no_index) return wake_sink(output_of(packets_.hop(packet).channel));
    const std::vector<TreeBranch>& branches = trees_.vertices()[stored.vertex].branches;
    for (std::uint32_t b = 0; b < branches.size(); ++b)
        if (b != stored.branch) wake_sink(output_of(branches[b].out));
}

}  // namespace topoloom
