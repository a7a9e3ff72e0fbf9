// SPDX-License-Identifier: BSD-3-Clause
// Orders of processes in binomial trees on heterogeneous networks.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/schedule/orders/cost_groups.hpp"
#include "topoloom/schedule/orders/cost_matrix.hpp"

namespace topoloom {

enum class BinomialOrder {
    standard,            // root, root + 1, ... wrapping at the end
    fastest_edge_first,  // every sender takes the nearest process that is left
    channel_aware,       // the same, but the farthest in the step in which as many send as there are channels
    random,              // the root, then any order
};

/// The order of this name: standard, fastest-edge-first, channel-aware or random. Throws Error for others.
[[nodiscard]] BinomialOrder parse_binomial_order(std::string_view name);

/// The standard order or a random one, which depend on no costs. Throws Error for others, and a root that is not a process.
[[nodiscard]] std::vector<Rank> order_without_costs(std::size_t size, BinomialOrder order, Rank root,
                                                    std::uint64_t seed);

/// The process on every position of a binomial tree, the root's first. Lowest processes win ties. Where `channels` is no
/// power of two, the one below counts; if more than send in the last step, that one does. Throws Error for a root that
/// is not a process, and no channels. O(size^2). Source: Karlsson 2012, A 4.7 to 4.9, with positions for processes and
/// the bounds of loops corrected.
[[nodiscard]] std::vector<Rank> binomial_order(const CostMatrix& costs, BinomialOrder order, Rank root,
                                               std::uint32_t channels, std::uint64_t seed);

/// The same by measured costs: those of groups of near processes, so that noise is not mined for fast edges. Without groups,
/// orders that depend on costs are the standard one. O(size^2 log size) for every level of groups.
[[nodiscard]] std::vector<Rank> measured_binomial_order(const CostMatrix& costs, BinomialOrder order,
                                                        Rank root, std::uint32_t channels,
                                                        std::uint64_t seed);

/// How concurrent messages share channels. The source's assumption is `printed`; its own measurements agree with `growing`
/// the most, see docs/collectives/binomial-orders.md.
enum class ChannelSharing {
    growing,  // those within a group share one, those between the same two all; each more adds half of one's bandwidth
    printed,  // those within a group share all, and those between the same two; more than the channels add nothing
    node,         // all of them share all; each more adds half of one's bandwidth
    independent,  // none do
};

/// Seconds of every step of a binomial scatter of one block to each process, where costs are of a block. In step s position
/// r, which 2^(L-s) divides, sends the upper half of its blocks to r + 2^(L-s-1). Of messages that share c channels and
/// whose seconds add up to w, the longest m, all take max(m, w/c), or where bandwidth grows max(m, 2w / (c + w/m)), less
/// than twice as long as alone. Where all are one group, `growing` is `node`. Throws Error unless the order has every
/// process once, and for no channels. Source: Karlsson 2012, A 4.6, T 4.6; two messages on one channel have 1.5 times the
/// bandwidth of one, ch. 3, and inside nodes all his machines have one channel, T 3.8 to T 3.10, T 3.13.
[[nodiscard]] std::vector<double> binomial_scatter_steps(const CostMatrix& costs, const CostGroups& groups,
                                                         std::span<const Rank> order, std::uint32_t channels,
                                                         ChannelSharing sharing = ChannelSharing::growing);

}  // namespace topoloom
