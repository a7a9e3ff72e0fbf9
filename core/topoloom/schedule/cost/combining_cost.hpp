// SPDX-License-Identifier: BSD-3-Clause
// Closed-form costs of combining collectives.
#pragma once

#include <cstddef>

namespace topoloom {

/// Seconds per message and per byte.
struct CombiningCosts {
    double alpha = 0;    // a message
    double beta = 0;     // per byte sent
    double gamma = 0;    // per byte copied into a message, where that is not pipelined
    double beta_em = 0;  // per byte sent from memory of the NIC
    double delta = 0;    // per byte copied there
};

enum class Combining { direct, mesh, grid, hypercube };

/// Which formula: counted from the algorithm, or as printed in the source where that differs.
enum class FormulaVariant { counted, printed };

/// Seconds of an all-to-all of m bytes per pair, between P ranks: [3.1], [3.2] and with holes [3.4], [3.6] and with
/// holes [3.8], [3.10] and with holes [3.12]. As printed [3.12] has (1 + 1) log P messages per rank; it sends floor(log
/// P) + 2, and of bytes P per round and P - 1 in the first and the last. Throws Error for no ranks. Source, also below:
/// S. Kumar, Optimizing Communication for Massively Parallel Processing, 2005.
[[nodiscard]] double all_to_all_time(Combining strategy, std::size_t ranks, double bytes,
                                     const CombiningCosts& costs,
                                     FormulaVariant reading = FormulaVariant::counted);

/// The same of an all-gather of m bytes per rank: [3.1], [3.3] and [3.5], [3.7] and [3.9], [3.11] and [3.13], the last
/// counted likewise.
[[nodiscard]] double all_gather_time(Combining strategy, std::size_t ranks, double bytes,
                                     const CombiningCosts& costs,
                                     FormulaVariant reading = FormulaVariant::counted);

/// An all-gather that sends from memory of the NIC: [3.14] for a mesh, [3.15] for a grid, [3.16] for a hypercube whose last
/// `direct` dimensions are one round, [4.4] for direct messages. As printed a mesh has 2 sqrt(P) messages and stages
/// sqrt(P) blocks, where it sends 2 less and stages its own block, too; a grid likewise. The last term of [3.16] can't be
/// read: as printed it is taken for (P - 1) m gamma, to copy all blocks out at the end; counted, nothing is.
[[nodiscard]] double nic_all_gather_time(Combining strategy, std::size_t ranks, double bytes,
                                         const CombiningCosts& costs, unsigned direct = 0,
                                         FormulaVariant reading = FormulaVariant::counted);

/// An all-gather by k-prefix or k-shift from memory of the NIC: [4.5] and [4.6]; for k = 1 the ring [4.3], from main
/// memory. Throws Error for k = 0.
[[nodiscard]] double relay_all_gather_time(std::size_t ranks, std::size_t k, double bytes,
                                           const CombiningCosts& costs);

/// A many-to-many of m bytes to each of `degree` ranks: [3.17] to [3.20]. As printed [3.19] sends all data in every
/// round, where half are on the right side already.
[[nodiscard]] double many_to_many_time(Combining strategy, std::size_t ranks, double degree, double bytes,
                                       const CombiningCosts& costs,
                                       FormulaVariant reading = FormulaVariant::counted);

}  // namespace topoloom
