// SPDX-License-Identifier: BSD-3-Clause
// The messages of well-known collectives: ring, recursive doubling, Bruck, binomial tree, all-to-all.
// None of these sends a rank a message to itself; one rank alone gives a graph without edges.
#pragma once

#include <cstddef>

#include "topoloom/base/unit.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// What one message of an all-gather carries.
enum class PhaseBytes {
    blocks,  ///< `bytes` for every rank's block that travels in the phase: 1, 2, 4, ... blocks
    unit,    ///< `bytes`, whatever the phase: counts messages rather than volume
};

/// Rank i sends `bytes` to i + 1 mod n.
/// These functions throw Error for n = 0, 2^31 or more ranks, and bytes < 0.
[[nodiscard]] CommGraph ring(std::size_t rank_count, Bytes bytes);

/// All-gather by recursive doubling: in phase j ranks i and i xor 2^j exchange what they have, 2^j blocks.
/// Ranks from P, the largest power of two <= n, on give their block to rank i - P first and get the n - 1
/// others from it at last. Source: R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective
/// Communication Operations in MPICH, IJHPCA 19(1), 2005; the way for other than powers of two is that of
/// dimension exchange.
[[nodiscard]] CommGraph recursive_doubling(std::size_t rank_count, Bytes bytes,
                                           PhaseBytes phase_bytes = PhaseBytes::blocks);

/// All-gather after Bruck: in phase j rank i sends min(2^j, n - 2^j) blocks to i - 2^j mod n, for 2^j < n.
/// Source: J. Bruck et al., Efficient Algorithms for All-to-All Communications in Multiport Message-Passing
/// Systems, IEEE TPDS 8(11), 1997.
[[nodiscard]] CommGraph bruck(std::size_t rank_count, Bytes bytes,
                              PhaseBytes phase_bytes = PhaseBytes::blocks);

/// Broadcast of `bytes` along MPICH's binomial tree: counted from the root, rank v > 0 receives from v with
/// its lowest set bit cleared. Throws Error for a root that is not a rank, too.
[[nodiscard]] CommGraph binomial_tree(std::size_t rank_count, Bytes bytes, Rank root = Rank{0});

/// Every rank sends `bytes` to every other. n (n - 1) edges of 20 bytes; throws Error for more than 2^31 of
/// them.
[[nodiscard]] CommGraph all_to_all(std::size_t rank_count, Bytes bytes);

}  // namespace topoloom
