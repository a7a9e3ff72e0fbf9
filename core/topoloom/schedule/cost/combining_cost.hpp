// SPDX-License-Identifier: BSD-3-Clause
// Closed-form costs of combining collectives.
#pragma once

#include <cstddef>

namespace topoloom {

/// Seconds per message or per byte.
struct CombiningCosts {
    double alpha = 0;    // a message
    double beta = 0;     // per byte sent from main memory
    double gamma = 0;    // per byte copied into a message, if copying does not overlap with sending
    double beta_em = 0;  // per byte sent from NIC memory
    double delta = 0;    // per byte copied to NIC memory
};

enum class CombiningStrategy { direct, mesh, grid, hypercube };

/// Which formula to use: the one counted from the algorithm, or the one printed in the source, which may
/// differ.
enum class FormulaVariant { counted, printed };

/// Returns the time, in seconds, of an alltoall of m bytes per pair among P ranks, by equation [3.1];
/// [3.2], with holes [3.4]; [3.6], with holes [3.8]; [3.10], with holes [3.12]. As printed, [3.12] counts
/// (1 + 1) log P messages per rank, whereas the algorithm sends floor(log P) + 2 messages: of P blocks in
/// each exchange and of P - 1 blocks in the first and the last round. Throws Error if ranks is 0. Source of
/// all formulas in this file: S. Kumar, Optimizing Communication for Massively Parallel Processing, 2005.
[[nodiscard]] double alltoall_time(CombiningStrategy strategy, std::size_t ranks, double bytes,
                                   const CombiningCosts& costs,
                                   FormulaVariant variant = FormulaVariant::counted);

/// Returns the time, in seconds, of an allgather of m bytes per rank, by equation [3.1], [3.3] and [3.5],
/// [3.7] and [3.9], [3.11] and [3.13]; [3.13] is counted like [3.12].
[[nodiscard]] double allgather_time(CombiningStrategy strategy, std::size_t ranks, double bytes,
                                    const CombiningCosts& costs,
                                    FormulaVariant variant = FormulaVariant::counted);

/// Returns the time, in seconds, of an allgather that sends from NIC memory, by equation [3.14] for a mesh,
/// [3.15] for a grid, [3.16] for a hypercube whose last `direct` dimensions are one round, [4.4] for direct
/// messages. As printed, a mesh sends 2 sqrt(P) messages and stages sqrt(P) blocks; the algorithm sends 2
/// messages fewer and also stages its own block; a grid likewise. The last term of [3.16] is illegible in the
/// source: FormulaVariant::printed assumes (P - 1) m gamma, for copying all blocks out at the end;
/// FormulaVariant::counted omits it.
[[nodiscard]] double nic_allgather_time(CombiningStrategy strategy, std::size_t ranks, double bytes,
                                        const CombiningCosts& costs, unsigned direct = 0,
                                        FormulaVariant variant = FormulaVariant::counted);

/// Returns the time, in seconds, of an allgather by k-prefix or k-shift from NIC memory, by equations [4.5]
/// and [4.6]; for k = 1 the ring [4.3], from main memory. Throws Error for k = 0.
[[nodiscard]] double relay_allgather_time(std::size_t ranks, std::size_t k, double bytes,
                                          const CombiningCosts& costs);

/// Returns the time, in seconds, of a many-to-many of m bytes to each of `degree` ranks, by equations [3.17]
/// to [3.20]. As printed, [3.19] sends all data in every round, although half of them are already in the
/// right half of the hypercube.
[[nodiscard]] double many_to_many_time(CombiningStrategy strategy, std::size_t ranks, double degree,
                                       double bytes, const CombiningCosts& costs,
                                       FormulaVariant variant = FormulaVariant::counted);

}  // namespace topoloom
