// SPDX-License-Identifier: BSD-3-Clause
// Output-queued switches with a buffer for each crosspoint, simulated by packet events.
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

/// A packet that comes in goes at once to the buffer between its input and its output, of which there is one for each pair and
/// virtual channel; each output serves them in turns (virtual cut-through). Whoever sends to a switch counts, for each
/// virtual channel of the link, how many packets fit in every such buffer of the input: one less when a packet goes, one more
/// when it has left the switch. A packet of a multicast is copied to the buffers of all outputs of its tree but the one
/// where it came from, and has left when the last copy has. A packet of a reduction goes to a unit that combines it with those
/// of the other branches of its tree; what comes out crosses the switch again. Source: S. Kumar, Optimizing Communication for
/// Massively Parallel Processing, PhD thesis, University of Illinois, 2005, chapter 8.
///
/// A group has buffers, and credits, of its own on its tree, so that no packets wait for each other in a circle, as long as
/// all members send to several groups in the same order. Multicasts share those of other packets where no circle comes of it, as
/// on fat trees.
///
/// To `options`, what is said of virtual channels, buffers, cycles and arbiters applies; a buffer is that of a crosspoint.
/// `seed` draws the ways of packets whose routes are split, or that choose. Packets for a group are addressed to the node
/// with its number behind all nodes of the fabric. Refers to the fabric, the paths and the workload. Throws Error for what
/// cannot be simulated: buffers smaller than a packet, fewer virtual channels than classes of paths, packets that choose and
/// need channels to escape by, groups that GroupTrees refuses.
[[nodiscard]] std::unique_ptr<PacketNetwork> make_crosspoint_network(
    const Fabric& fabric, const Paths& paths, Workload& workload, const SwitchOptions& options,
    std::uint64_t seed, std::span<const ChannelTimes> times = {}, std::span<const SwitchGroup> groups = {},
    const CombineOptions& combine = {});

}  // namespace topoloom
