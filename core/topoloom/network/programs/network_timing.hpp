// SPDX-License-Identifier: BSD-3-Clause
// Converts latencies and bandwidths of a machine to cycles of the simulator.
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

/// Speeds of switches and NICs that the machine does not describe. In seconds, bytes and bytes per second.
struct SwitchSpeeds {
    std::optional<double> switch_latency{};  // of each; otherwise a part of the links' latencies
    std::optional<double>
        injection{};                 // into and out of a node that is its own router; otherwise all its links
    std::optional<double> buffer{};  // of a virtual channel; otherwise as much as keeps the longest link busy
    bool crosspoints =
        false;  // switches of this kind; their own latency is inside, where results of units cross again
    std::optional<double> combining{};  // of a unit that combines; otherwise all that comes into a switch
};

/// A cycle is the time per flit of the fastest channel; slower ones take several. Link latencies are from switch to
/// switch and include the pipeline of a switch, unless the switch latency is known and added.
struct NetworkTiming {
    double cycle;  // seconds
    std::vector<ChannelTimes> channels;
    MessageCycles messages;
    SwitchOptions options;
    CombineOptions combine;
};

/// Throws Error for machines without bandwidths, and for times that exceed the range of cycles.
[[nodiscard]] NetworkTiming compute_network_timing(const Fabric& fabric, const PacketFormat& format,
                                                   SwitchOptions options, const SwitchSpeeds& speeds,
                                                   std::uint32_t units = 1);

/// Memory in bytes of channels and buffers.
[[nodiscard]] std::uint64_t simulation_memory(const Fabric& fabric, const NetworkTiming& times);

}  // namespace topoloom
