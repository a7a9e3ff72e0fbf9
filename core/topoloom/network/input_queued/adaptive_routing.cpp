// SPDX-License-Identifier: BSD-3-Clause
// Adaptive routing: a packet chooses its next channel by load, anew in every cycle until it gets a virtual
// channel.
#include <algorithm>
#include <bit>
#include <limits>

#include "topoloom/network/input_queued/input_queued_network.hpp"

namespace topoloom {

/// Chooses the output that each waiting packet requests.
void InputQueuedNetwork::choose_outputs(Worker& worker, std::uint32_t router) {
    std::ranges::fill(worker.chosen_counts, 0);
    for (std::uint32_t input = fabric_.first_input(router); input < fabric_.first_input(router + 1); ++input)
        for (VcMask waiting = inputs_[input].waiting; waiting != 0; waiting &= waiting - 1) {
            const auto vc = static_cast<std::uint32_t>(std::countr_zero(waiting));
            Queue& queue = this->queue(input, vc);
            const std::uint32_t packet = flit_at(input, vc, queue.begin).packet();
            if (queue.ready <= worker.now && packets_[packet].mode != PacketPool::RouteMode::planned)
                choose_output(worker, router, queue, packet);
        }
}

/// Of the outputs on shortest routes with a free virtual channel, chooses the one with the most credits,
/// minus the flits of the packets that already chose this output in this cycle. Breaks ties randomly. If no
/// output qualifies, requests the escape channel of the machine's own route.
void InputQueuedNetwork::choose_output(Worker& worker, std::uint32_t router, Queue& queue,
                                       std::uint32_t packet) {
    const MinimalNextHops& steps = *paths_.next_hops();
    const PacketRequest& order = packets_[packet].order;
    const std::uint32_t first = fabric_.first_output(router);
    std::int64_t most = std::numeric_limits<std::int64_t>::min();
    std::uint32_t ties = 0;
    const bool arrives = steps.distance(router, order.to) == 1;
    const VcMask mine = arrives ? vc_range(0, vcs_) : chosen_;
    steps.for_each_output(router, order.to, [&](ChannelId next) {
        const std::uint32_t output = fabric_.channel(next).output;
        if (select_vcs_with_credits(output, free_[output] & mine) == 0) return;
        const std::int64_t room = -std::int64_t{outstanding_credits(next)} -
                                  std::int64_t{worker.chosen_counts[output - first]} * order.flits;
        if (room < most) return;
        ties = room > most ? 1 : ties + 1;
        most = room;
        if (ties > 1 && choices_[router].below(ties) > 0) return;
        queue.output = static_cast<std::uint16_t>(output - first);
    });
    if (ties > 0 || arrives || paths_.escape_classes() == 0) {
        queue.open = ties > 0 ? mine : 0;
        worker.chosen_counts[queue.output] += ties > 0 ? 1 : 0;
        return;
    }
    PacketPool::Packet& escaping = packets_[packet];
    if (escaping.mode == PacketPool::RouteMode::adaptive) {
        packets_.replace_path(packet,
                              paths_.find_escape_path(router, order.to, choices_[router], worker.path));
        escaping.mode = PacketPool::RouteMode::may_escape;
    }
    const Hop& hop = packets_.hop(packet);
    queue.output = static_cast<std::uint16_t>(fabric_.channel(hop.channel).output - first);
    queue.open = classed_.allowed_vcs(hop, 0);
}

/// Fixes the path of a packet that has allocated an escape virtual channel.
void InputQueuedNetwork::fix_escape_path(std::uint32_t vc, std::uint32_t packet) {
    PacketPool::RouteMode& mode = packets_[packet].mode;
    if ((chosen_ >> vc & 1U) == 0 && mode == PacketPool::RouteMode::may_escape)
        mode = PacketPool::RouteMode::planned;
}

}  // namespace topoloom
