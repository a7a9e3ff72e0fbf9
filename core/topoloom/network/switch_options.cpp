// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/switch_options.hpp"

#include <string_view>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

void require_range(std::string_view what, std::uint32_t value, std::uint32_t low, std::uint32_t high) {
    if (value < low || value > high) fail(what, " must be ", low, " to ", high, ", not ", value);
}

}  // namespace

void require_switch_options(const SwitchOptions& options, std::uint32_t longest_packet) {
    require_range("virtual channels", options.vcs, 1, max_vcs);
    require_range("flits of a buffer", options.buffer, 1, 65535);
    require_range("flits of a packet", longest_packet, 1, 1U << 20);
    require_range("cycles of routing", options.routing, 0, 1000);
    require_range("cycles of crossing a switch", options.crossing, 1, 1U << 16);
    require_range("cycles of a channel", options.channel, 1, 1000);
    require_range("iterations of an allocator", options.iterations, 1, 64);
    if (options.arbiter != Arbiter::round_robin &&
        (options.allocator != Allocator::islip || options.iterations > 1))
        fail(
            "the age and random arbiters support only one iteration of iSLIP; choose round-robin for more "
            "iterations or wavefront");
    if (options.switching == Switching::cut_through && options.buffer < longest_packet)
        fail("a buffer of ", options.buffer, " flits cannot hold a packet of ", longest_packet,
             ", as cut-through switching needs; enlarge it, or choose wormhole");
}

void require_channel_times(std::span<const ChannelTimes> times, std::size_t channels) {
    if (!times.empty() && times.size() != channels)
        fail("times are given for ", times.size(), " channels; there are ", channels);
    for (const ChannelTimes& one : times) {
        require_range("cycles of a channel", one.delay, 1, 1U << 20);
        require_range("parts of a cycle that a flit takes", one.period, ChannelTimes::cycle, 1U << 30);
    }
}

}  // namespace topoloom
