// SPDX-License-Identifier: BSD-3-Clause
// Collectives along the axes of a mesh of ranks, as in parallel neural network training.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/unit.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// Algorithm of a collective among the n members of a group, numbered 0 .. n-1. Each member sends `bytes` in
/// total.
enum class MeshCollective : std::uint8_t {
    ring,      ///< half of the bytes to the next member and half to the previous one, cyclically
    alltoall,  ///< an equal part of the bytes to every other member
    /// One phase for each partner i xor 1, i xor 2, i xor 4, ..., with half the bytes of the previous phase.
    /// An allreduce by recursive halving and doubling (Rabenseifner, ICCS 2004).
    halving,
    chain,  ///< an open ring, such as pipeline stages; the first and last member send half
};

/// A collective in every group along some axes of the mesh. Members are numbered so that the first of `axes`
/// varies fastest.
struct MeshTraffic {
    std::vector<std::uint32_t> axes;  // indices of mesh axes
    MeshCollective collective;
    Bytes bytes;  // bytes that a member sends in total
    /// For rings: sizes of the digits of member numbers, lowest first. Each digit has a ring of its own, and
    /// all rings carry equal parts of the bytes at the same time. Empty for one ring of all members.
    std::vector<std::uint32_t> shape = {};
};

/// Returns the number of ranks of a mesh. Throws Error if there are no axes, if an axis has no ranks, and for
/// 2^31 or more ranks.
[[nodiscard]] std::size_t mesh_size(std::span<const std::uint32_t> extents);

/// Makes the phases of the traffic: several for halving, none for groups of one rank, otherwise one. Ranks
/// are numbered so that the first axis of the mesh varies fastest. Fractional bytes are rounded up. Throws
/// the same errors as mesh_size(). Throws Error for no axes, unknown or duplicate axes, negative bytes, a shape
/// whose product is not the size of a group, and halving in groups whose size is not a power of two.
[[nodiscard]] std::vector<CommGraph> mesh_phases(std::span<const std::uint32_t> extents,
                                                 const MeshTraffic& traffic);

}  // namespace topoloom
