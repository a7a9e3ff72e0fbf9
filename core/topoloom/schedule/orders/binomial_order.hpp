// SPDX-License-Identifier: BSD-3-Clause
// Rank orders for binomial trees on heterogeneous networks.
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
    standard,            // root, root + 1, ..., modulo the number of processes
    fastest_edge_first,  // every sender is assigned the nearest unassigned process
    channel_aware,       // the same, but the farthest process in the step with one sender per channel
    random,              // the root, then a random order
};

/// Returns the order with this name: standard, fastest-edge-first, channel-aware or random. Throws Error for
/// other names.
[[nodiscard]] BinomialOrder parse_binomial_order(std::string_view name);

/// Computes the standard or a random order, which do not depend on costs. Throws Error for other orders, or
/// if root is not a process.
[[nodiscard]] std::vector<Rank> cost_independent_order(std::size_t size, BinomialOrder order, Rank root,
                                                       std::uint64_t seed);

/// Returns the process at every position of a binomial tree, beginning with the root. On ties the lowest
/// process wins. `channels` is rounded down to a power of two; if more processes send in the last step, that
/// step uses the farthest process. Throws Error if root is not a process or channels is 0. O(size^2). Source:
/// Karlsson 2012, A 4.7 to 4.9, with positions replaced by processes and loop bounds corrected.
[[nodiscard]] std::vector<Rank> binomial_order(const CostMatrix& costs, BinomialOrder order, Rank root,
                                               std::uint32_t channels, std::uint64_t seed);

/// Computes the same order from measured costs, averaged over groups of close processes so that the order
/// does not depend on noise. Without groups, orders that depend on costs equal the standard order. O(size^2
/// log size) per level of groups.
[[nodiscard]] std::vector<Rank> measured_binomial_order(const CostMatrix& costs, BinomialOrder order,
                                                        Rank root, std::uint32_t channels,
                                                        std::uint64_t seed);

/// How concurrent messages share channels. The source assumes `printed`; its measurements agree best with
/// `growing`, see docs/collectives/binomial-orders.md.
enum class ChannelSharing {
    /// Messages within a group share one channel, messages between two groups all channels; each further message
    /// adds half of a channel's bandwidth.
    growing,
    /// Messages within a group share all channels, as do messages between two groups; more messages than channels
    /// add no bandwidth.
    printed,
    node,         // all messages share all channels; each further message adds half of a channel's bandwidth
    independent,  // no messages share channels
};

/// Returns the seconds of every step of a binomial scatter of one block per process, with costs per block. In
/// step s every position r divisible by 2^(L-s) sends the upper half of its blocks to r + 2^(L-s-1). If
/// messages share c channels, w is the sum of their times alone and m the longest of these, all of them take
/// max(m, w/c). In `growing` they take max(m, 2w / (c + w/m)), less than twice as long as alone. With a
/// single group, `growing` equals `node`. Throws Error unless the order contains every process once, or if
/// channels is 0. Source: Karlsson 2012, A 4.6, T 4.6; two messages on one channel have 1.5 times the
/// bandwidth of one, ch. 3, and within nodes all machines of the source have one channel, T 3.8 to T 3.10, T
/// 3.13.
[[nodiscard]] std::vector<double> binomial_scatter_steps(const CostMatrix& costs, const CostGroups& groups,
                                                         std::span<const Rank> order, std::uint32_t channels,
                                                         ChannelSharing sharing = ChannelSharing::growing);

}  // namespace topoloom
