// SPDX-License-Identifier: BSD-3-Clause
// Output-queued switches with a buffer for each crosspoint. The simulation is driven by packet events.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "topoloom/network/crosspoint/switch_group.hpp"
#include "topoloom/network/fabric.hpp"
#include "topoloom/network/packet_network.hpp"
#include "topoloom/network/routes/paths.hpp"
#include "topoloom/network/switch_options.hpp"
#include "topoloom/network/workload.hpp"

namespace topoloom {

/// Makes a network of switches with crosspoint buffers. Each pair of input and output has one buffer per
/// virtual channel. An arriving packet is stored in the buffer of its input and output. Each output serves
/// its buffers round-robin (virtual cut-through). The sender on a link has a credit count per virtual
/// channel: the number of packets that still fit in each buffer of this channel at the receiving input. A
/// credit is used when a packet is sent, and returned when the packet has left the switch. A multicast packet
/// is copied to the buffers of all outputs of its tree, except toward the vertex that it came from. It has
/// left the switch when its last copy has left. A reduction packet goes to a unit that combines it with the
/// packets of the other branches of its tree; the result crosses the switch again. Source: S. Kumar,
/// Optimizing Communication for Massively Parallel Processing, PhD thesis, University of Illinois, 2005,
/// chapter 8.
///
/// A group has separate buffers and credits on its tree, which prevents deadlock if all members send to
/// several groups in the same order. Multicasts share buffers with other packets if that cannot cause a
/// deadlock, as on fat trees.
///
/// Uses virtual channels, buffer size, cycles and arbiter of `options`; `buffer` is the size of a crosspoint
/// buffer. `seed` determines the random choices among split or adaptive routes. Packets to group g are
/// addressed to node node_count() + g. The network refers to the fabric, the paths and the workload. Throws
/// Error for buffers smaller than a packet, fewer virtual channels than path classes, adaptive routing that
/// needs escape channels, and groups that GroupTrees rejects.
[[nodiscard]] std::unique_ptr<PacketNetwork> make_crosspoint_network(
    const Fabric& fabric, const Paths& paths, Workload& workload, const SwitchOptions& options,
    std::uint64_t seed, std::span<const ChannelTimes> times = {}, std::span<const SwitchGroup> groups = {},
    const CombineOptions& combine = {});

}  // namespace topoloom
