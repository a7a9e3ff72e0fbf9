// SPDX-License-Identifier: BSD-3-Clause
// Options of simulated switches and channels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "topoloom/network/arbiter.hpp"
#include "topoloom/network/matching.hpp"

namespace topoloom {

/// When a packet can allocate a virtual channel: once the buffer has space for the whole packet
/// (cut-through), or for one flit (wormhole).
enum class Switching { cut_through, wormhole };
inline constexpr std::array<Alternative, 2> switchings{{
    {"cut-through", "when there is space for the whole packet"},
    {"wormhole", "when there is space for one flit"},
}};

/// Whether the virtual channels of an input are shared by all outputs, or each is dedicated to one output
/// (virtual output queues, without head-of-line blocking).
enum class InputQueues { shared, by_output };

/// Where multicast packets wait: at crosspoints, or in a FIFO queue at their input. From that queue, a packet
/// is copied to outputs as they become free (split) or to all outputs at once (whole).
enum class Fanout { crosspoints, split, whole };

/// Buffers and delays of all routers. A channel moves one flit per cycle.
struct SwitchOptions {
    std::uint32_t vcs = 2;       // number of virtual channels of each channel
    std::uint32_t buffer = 8;    // buffer size per virtual channel of an input, in flits
    std::uint32_t routing = 1;   // number of cycles for route computation; 0: lookahead routing
    std::uint32_t crossing = 1;  // number of cycles from allocation to the channel
    std::uint32_t channel = 1;   // number of cycles that a flit spends on a channel
    Switching switching = Switching::wormhole;
    Arbiter arbiter = Arbiter::round_robin;
    Allocator allocator = Allocator::islip;
    std::uint32_t iterations = 1;              // of iSLIP
    InputQueues queues = InputQueues::shared;  // if by_output, `vcs` is per output
    Fanout fanout = Fanout::crosspoints;       // of multicasts
    bool allow_deadlock = false;               // whether packets can use any virtual channel
};

constexpr std::uint32_t max_vcs = 32;

/// Delay and rate of one channel, if channels differ.
struct ChannelTimes {
    /// The length of one cycle in units of `period`.
    static constexpr std::uint32_t cycle = 1U << 10;

    std::uint32_t delay = 1;       // number of cycles that a flit spends on the channel
    std::uint32_t period = cycle;  // time per flit, at least one cycle
};

/// Throws Error for unsupported options, such as empty buffers or buffers smaller than a packet with
/// cut-through.
void require_switch_options(const SwitchOptions& options, std::uint32_t longest_packet);
/// Throws Error unless `times` is empty or has one entry per channel, with delays of at least one cycle.
void require_channel_times(std::span<const ChannelTimes> times, std::size_t channels);

}  // namespace topoloom
