// SPDX-License-Identifier: BSD-3-Clause
// Cyclic exchanges of a few ranks: the way out where no exchange of two helps.
#pragma once

#include "topoloom/place/local/rotate_options.hpp"
#include "topoloom/place/mapper.hpp"

namespace topoloom {

/// Moves a rank to a slot near a partner, where it is better off; whoever was there goes to the best slot near its own
/// partners, or to the slot that became free, and so on: a cycle of at most `length` ranks, or a chain that ends on a
/// free slot, is kept as soon as it lowers hop-bytes, else taken back. Visits the ranks whose surroundings changed until
/// none is left or the budget ends. This is ejection chains with the gain criterion of Lin and Kernighan (Glover, Ejection
/// chains, reference structures and alternating path methods, Discrete Applied Mathematics 65 (1996)). A visit costs
/// O(partners * near) evaluations of O(degree), and one such search more for each rank that is ejected. Work counts
/// evaluations. Under another objective than hop-bytes: rotate_on_routes().
[[nodiscard]] Placement improve_by_rotations(const Problem& problem, Placement start, Meter& meter,
                                             const RotateOptions& options);

}  // namespace topoloom
