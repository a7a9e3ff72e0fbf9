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

/// A router takes four steps for a flit: it is stored where it comes in, its packet gets a virtual channel of the output
/// (heads only), the flit gets the crossbar, and goes to the channel. Both allocators are separable ones: each output grants
/// one request, each input accepts one grant, in turns that move on with success (N. McKeown, The iSLIP Scheduling
/// Algorithm for Input-Queued Switches, IEEE/ACM Transactions on Networking 7, 1999). A virtual channel is free again when
/// the last flit of its packet has left; a credit comes back as long after as a flit would take. Nodes take all that comes.
/// Source: W. Dally, B. Towles, Principles and Practices of Interconnection Networks, chapter 16.
///
/// `seed` draws the ways of packets whose routes are split. What happens does not depend on the number of threads (0: one per
/// core), each of which simulates a part of the routers. Refers to the fabric, the paths and the workload. Throws Error for
/// options that require_switch_options() rejects, and fewer virtual channels than classes of paths.
/// Without times all channels take `options.channel` cycles, and a flit per cycle.
[[nodiscard]] std::unique_ptr<PacketNetwork> make_input_queued_network(
    const Fabric& fabric, const Paths& paths, Workload& workload, const SwitchOptions& options,
    std::uint64_t seed, int threads = 1, std::span<const ChannelTimes> times = {});

}  // namespace topoloom
