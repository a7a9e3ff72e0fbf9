// SPDX-License-Identifier: BSD-3-Clause
// Matrices of hops, distances and route links for many nodes or slots at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/big_vector.hpp"
#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// A square matrix: [i * count + j] is the distance from the i-th node or slot to the j-th.
using PairMatrix = BigVector<std::uint32_t>;

/// Computes the hops between all nodes, on all cores. Throws Error for nodes that do not exist, are down or do not reach
/// each other, and for a matrix that does not fit in memory.
[[nodiscard]] PairMatrix hop_matrix(const Machine& machine, std::span<const Node> nodes);
/// Computes the distances between all slots, as used in hop-bytes, on all cores. Throws the same errors.
[[nodiscard]] PairMatrix distance_matrix(const Machine& machine, std::span<const Slot> slots);

/// A sparse matrix with a row per pair and a column per link. The entries of pair i are [first[i],
/// first[i+1]), ascending by link.
struct RouteMatrix {
    BigVector<std::uint64_t> first;
    BigVector<std::uint32_t> link;
    BigVector<double> share;
};

/// For each i and each link, computes the share of a message from from[i] to to[i] that crosses the link.
/// Uses all cores. Adaptive routing assumes an idle network. Throws Error for nodes that do not exist, and
/// pairs without a route.
[[nodiscard]] RouteMatrix route_matrix(const Machine& machine, std::span<const Node> from,
                                       std::span<const Node> to);

}  // namespace topoloom
