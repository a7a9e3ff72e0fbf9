// SPDX-License-Identifier: BSD-3-Clause
// What a machine answers of many nodes or slots at once: matrices of hops and distances, and the links of routes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/big_vector.hpp"
#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// [i * count + j]: from the i-th of the nodes, or slots, to the j-th.
using PairMatrix = BigVector<std::uint32_t>;

/// Throws Error for nodes that do not exist, are down or do not reach each other, and for a matrix that does not fit in
/// memory. On all cores.
[[nodiscard]] PairMatrix hop_matrix(const Machine& machine, std::span<const Node> nodes);
/// The same of slots: what hop-bytes multiply with.
[[nodiscard]] PairMatrix distance_matrix(const Machine& machine, std::span<const Slot> slots);

/// Rows of a sparse matrix of pairs by links: those of pair i are [first[i], first[i+1]), ascending by link, one per
/// link.
struct RouteMatrix {
    BigVector<std::uint64_t> first;
    BigVector<std::uint32_t> link;
    BigVector<double> share;
};

/// What of a message from from[i] to to[i] each link carries; where routing adapts to the load, in an idle network.
/// Throws Error for nodes that do not exist, and pairs without a route. On all cores.
[[nodiscard]] RouteMatrix route_matrix(const Machine& machine, std::span<const Node> from,
                                       std::span<const Node> to);

}  // namespace topoloom
