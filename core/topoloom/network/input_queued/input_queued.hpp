// SPDX-License-Identifier: BSD-3-Clause
// Routers with virtual channels that queue flits at their inputs, simulated cycle by cycle.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "topoloom/network/fabric.hpp"
#include "topoloom/network/packet_network.hpp"
#include "topoloom/network/routes/paths.hpp"
#include "topoloom/network/switch_options.hpp"
#include "topoloom/network/workload.hpp"

namespace topoloom {

/// Makes a network of input-queued routers. A router has four pipeline stages: store the flit at its input,
/// allocate an output virtual channel (heads only), allocate the crossbar, and traverse the channel. Both
/// allocators are separable: each output grants one request and each input accepts one grant, with
/// round-robin pointers that advance on success (N. McKeown, The iSLIP Scheduling Algorithm for Input-Queued
/// Switches, IEEE/ACM Transactions on Networking 7, 1999). A virtual channel is free again when the tail of
/// its packet has left. A credit returns after the delay of the channel. Nodes accept all arriving flits.
/// Source: W. Dally, B. Towles, Principles and Practices of Interconnection Networks, chapter 16.
///
/// `seed` determines the random choices among split routes. Each of the threads (0: up to one per core) simulates a
/// part of the routers; results do not depend on the number of threads. The network refers to the fabric, the
/// paths and the workload. Throws Error for options that require_switch_options() rejects, and for fewer
/// virtual channels than path classes. If `times` is empty, each channel has a delay of `options.channel`
/// cycles and moves one flit per cycle.
[[nodiscard]] std::unique_ptr<PacketNetwork> make_input_queued_network(
    const Fabric& fabric, const Paths& paths, Workload& workload, const SwitchOptions& options,
    std::uint64_t seed, int threads = 1, std::span<const ChannelTimes> times = {});

}  // namespace topoloom
