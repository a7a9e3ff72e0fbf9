// SPDX-License-Identifier: BSD-3-Clause
// What a machine's speeds come to in cycles.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "topoloom/network/crosspoint/switch_group.hpp"
#include "topoloom/network/fabric.hpp"
#include "topoloom/network/programs/packet_format.hpp"
#include "topoloom/network/programs/program_run.hpp"
#include "topoloom/network/switch_options.hpp"

namespace topoloom {

/// What is known of switches and cards beside the machine's own speeds. In seconds, bytes, and bytes per second.
struct SwitchSpeeds {
    std::optional<double> switch_latency{};  // of each; otherwise a part of the links' latencies
    std::optional<double>
        injection{};                 // into and out of a node that is its own router; otherwise all its links
    std::optional<double> buffer{};  // of a virtual channel; otherwise as much as keeps the longest link busy
    bool crosspoints =
        false;  // switches of this kind; their own latency is inside, where results of units cross again
    std::optional<double> combining{};  // of a unit that combines; otherwise all that comes into a switch
};

/// A cycle is what the fastest channel takes for a flit; slower ones take longer. A link's latency counts from switch to switch:
/// what a switch's steps take is a part of it, unless the switch's own latency is known, which then comes on top.
struct NetworkTiming {
    double cycle;  // seconds
    std::vector<ChannelTimes> channels;
    MessageCycles messages;
    SwitchOptions options;
    CombineOptions combine;
};

/// Throws Error for a machine without bandwidths, and times that cannot be counted in cycles of its links.
[[nodiscard]] NetworkTiming compute_network_timing(const Fabric& fabric, const PacketFormat& format,
                                                   SwitchOptions options, const SwitchSpeeds& speeds,
                                                   std::uint32_t units = 1);

/// Bytes that channels and buffers take.
[[nodiscard]] std::uint64_t simulation_memory(const Fabric& fabric, const NetworkTiming& times);

}  // namespace topoloom
