// SPDX-License-Identifier: BSD-3-Clause
// Deadlock detection: the wait-for graph of packets.
#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "topoloom/network/input_queued/input_queued_network.hpp"

namespace topoloom {

/// Returns the queues that the front packet of a queue waits for, or an empty list if the packet can proceed
/// or waits only for arbitration.
std::vector<std::uint32_t> InputQueuedNetwork::find_blocking_queues(std::uint32_t input,
                                                                    std::uint32_t vc) const {
    const Queue& queue = queues_[std::size_t{input} * vcs_ + vc];
    if (queue.count == 0) return {};
    const VcMask bit = VcMask{1} << vc;
    const ChannelId came = fabric_.channel_at_input(input);
    const std::uint32_t output = fabric_.first_output(fabric_.channel(came).to) + queue.output;
    const Channel& next = fabric_.channel(fabric_.channel_at_output(output));
    if (next.is_exit()) return {};
    VcMask coming = 0;
    returning_.for_each(output, [&](std::uint8_t credit) { coming |= VcMask{1} << (credit - 1U); });
    VcMask asked = 0;
    if ((inputs_[input].waiting & bit) != 0) {
        if (select_vcs_with_credits(output, free_[output] & queue.open) != 0) return {};
        asked = queue.open;
    } else if ((inputs_[input].active & bit) != 0 && credits_[std::size_t{output} * vcs_ + queue.vc] == 0) {
        asked = VcMask{1} << queue.vc;
    }
    if ((asked & coming) != 0) return {};
    std::vector<std::uint32_t> queues;
    for (; asked != 0; asked &= asked - 1)
        queues.push_back(next.input * vcs_ + static_cast<std::uint32_t>(std::countr_zero(asked)));
    return queues;
}

/// Repeatedly removes queues that wait for a queue that can proceed. The remaining queues are deadlocked.
std::string InputQueuedNetwork::describe_deadlock() const {
    std::vector<std::vector<std::uint32_t>> waits(queues_.size());
    std::vector<bool> is_stuck(queues_.size());
    for (std::uint32_t at = 0; at < queues_.size(); ++at) {
        waits[at] = find_blocking_queues(at / vcs_, at % vcs_);
        is_stuck[at] = !waits[at].empty();
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (std::uint32_t at = 0; at < queues_.size(); ++at) {
            if (!is_stuck[at] ||
                std::ranges::all_of(waits[at], [&](std::uint32_t next) { return is_stuck[next]; }))
                continue;
            is_stuck[at] = false;
            changed = true;
        }
    }
    std::uint32_t at = 0;
    while (at < queues_.size() && !is_stuck[at]) ++at;
    if (at == queues_.size()) return {};
    std::vector<std::uint32_t> seen;
    while (std::ranges::find(seen, at) == seen.end()) {
        seen.push_back(at);
        at = waits[at].front();
    }
    std::string text;
    for (auto one = std::ranges::find(seen, at); one != seen.end(); ++one) {
        const Queue& queue = queues_[*one];
        const Flit front = flits_[std::size_t{*one} * options_.buffer + queue.begin];
        text += (text.empty() ? "" : ", which waits for ") + std::string("the packet to node ") +
                std::to_string(packets_[front.packet()].order.to.value) + " on virtual channel " +
                std::to_string(*one % vcs_) + " of " + fabric_.name(fabric_.channel_at_input(*one / vcs_));
    }
    return text + ", which waits for the first";
}

}  // namespace topoloom
