// SPDX-License-Identifier: BSD-3-Clause
// Conversion of a machine's latencies and bandwidths to simulator cycles.
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

/// Speeds of switches and NICs that a machine does not describe, in seconds, bytes and bytes per second.
struct SwitchSpeeds {
    std::optional<double> switch_latency{};  // latency of a switch; by default included in link latencies
    std::optional<double>
        injection{};  // bandwidth into and out of a node that is a router itself; default: sum of its links
    /// Buffer size per virtual channel; default: enough to keep the longest link busy.
    std::optional<double> buffer{};
    /// Whether to simulate crosspoint buffers. The switch latency then also applies to results of combining
    /// units.
    bool crosspoints = false;
    std::optional<double> combining{};  // bandwidth of a combining unit; default: of all inputs of a switch
};

/// Simulator timing. A cycle is the time per flit of the fastest channel; slower channels need several cycles
/// per flit. Link latencies include the pipeline of a switch, unless the switch latency is given separately.
struct NetworkTiming {
    double cycle;  // seconds
    std::vector<ChannelTimes> channels;
    MessageCycles messages;
    SwitchOptions options;
    CombineOptions combine;
};

/// Computes the timing. Throws Error for machines without bandwidths, and for times that exceed the range of
/// cycles.
[[nodiscard]] NetworkTiming compute_network_timing(const Fabric& fabric, const PacketFormat& format,
                                                   SwitchOptions options, const SwitchSpeeds& speeds,
                                                   std::uint32_t units = 1);

/// Memory of channels and buffers in bytes.
[[nodiscard]] std::uint64_t simulation_memory(const Fabric& fabric, const NetworkTiming& times);

}  // namespace topoloom
