// SPDX-License-Identifier: BSD-3-Clause
// Collectives along the axes of a rank mesh, as in parallel neural network training.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/unit.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// Traffic among the n members of a group, numbered 0 .. n-1; each sends `bytes` in total.
enum class MeshCollective : std::uint8_t {
    ring,        ///< half to the next member and half to the one before, the last next to the first
    all_to_all,  ///< a part to every other member
    /// To i xor 1, i xor 2, i xor 4, ..., half as much each time, in rounds of their own: an all-reduce by vector
    /// halving and distance doubling, and back (Rabenseifner, ICCS 2004).
    halving,
    chain,  ///< a ring that is open: stages of a pipeline, whose first and last send half
};

/// A collective in every group along some axes of the mesh. Members are numbered with the first of `axes` fastest.
struct MeshTraffic {
    std::vector<std::uint32_t> axes;  // of the mesh, by index
    MeshCollective collective;
    Bytes bytes;  // that a member sends
};

/// Ranks of a mesh. Throws Error for no axes, an axis without ranks, and 2^31 or more ranks.
[[nodiscard]] std::size_t mesh_size(std::span<const std::uint32_t> extents);

/// The phases of the traffic, one but for halving; none in groups of one. Ranks are numbered with the first axis of the
/// mesh the fastest. Parts that do not come out even are rounded up. Throws Error as mesh_size() does, for no axes or
/// one that is unknown or named twice, for halving in groups whose size is not a power of two, and as the patterns of
/// collectives do.
[[nodiscard]] std::vector<CommGraph> mesh_phases(std::span<const std::uint32_t> extents,
                                                 const MeshTraffic& traffic);

}  // namespace topoloom
