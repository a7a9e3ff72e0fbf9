// SPDX-License-Identifier: BSD-3-Clause
// How switches pass packets on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "topoloom/network/arbiter.hpp"
#include "topoloom/network/matching.hpp"

namespace topoloom {

/// When a packet may take a virtual channel: when there is room for all of it (cut-through), or for a flit (wormhole).
enum class Switching { cut_through, wormhole };
inline constexpr std::array<Kind, 2> switchings{{
    {"cut-through", "when there is room for all of a packet"},
    {"wormhole", "when there is room for a flit"},
}};

/// Whether an input's virtual channels take any packet, or each those for one output, so that none waits behind a packet for
/// another (virtual output queues).
enum class InputQueues { shared, by_output };

/// Where packets that go to several outputs wait: at crosspoints, where none is behind one for another output; or behind each
/// other at their input, the first of which is copied to outputs as they come free (fanout splitting), or to all at once.
enum class Fanout { crosspoints, split, whole };

/// Buffers and times of all routers. A flit is what a channel moves per cycle.
struct SwitchOptions {
    std::uint32_t vcs = 2;       // virtual channels of each channel
    std::uint32_t buffer = 8;    // flits that a virtual channel holds at its input
    std::uint32_t routing = 1;   // cycles until a head asks for a virtual channel; 0: its way is known before
    std::uint32_t crossing = 1;  // cycles from a switch's decision to the channel
    std::uint32_t channel = 1;   // cycles on a channel
    Switching switching = Switching::wormhole;
    Arbiter arbiter = Arbiter::round_robin;
    Allocator allocator = Allocator::islip;
    std::uint32_t iterations = 1;              // of iSLIP
    InputQueues queues = InputQueues::shared;  // by_output: `vcs` are those of each output
    Fanout fanout = Fanout::crosspoints;       // of switches that copy
    bool allow_deadlock =
        false;  // packets take any virtual channel, even if they could wait for each other in a circle
};

constexpr std::uint32_t max_vcs = 32;

/// Of a channel, where not all are the same.
struct ChannelTimes {
    /// What `period` counts a cycle as.
    static constexpr std::uint32_t cycle = 1U << 10;

    std::uint32_t delay = 1;       // cycles on it
    std::uint32_t period = cycle;  // that a flit takes, a cycle at least
};

/// Throws Error for what cannot be simulated, such as no buffers, or ones that are smaller than a packet which must fit.
void require_switch_options(const SwitchOptions& options, std::uint32_t longest_packet);
/// Throws Error unless there are as many as channels, or none, with delays of a cycle and more.
void require_channel_times(std::span<const ChannelTimes> times, std::size_t channels);

}  // namespace topoloom
