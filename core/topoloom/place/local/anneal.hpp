// SPDX-License-Identifier: BSD-3-Clause
// Simulated annealing, the improver that gains most from a larger budget.
#pragma once

#include "topoloom/place/local/anneal_options.hpp"
#include "topoloom/place/mapper.hpp"

namespace topoloom::local {

/// For every rank in turn, proposes a slot near one of the partners with which it exchanges most. The
/// occupant of that slot moves to the rank's old slot. Accepts gains, and losses according to a temperature
/// that falls by a constant factor (Connolly, An improved annealing scheme for the QAP, EJOR 46 (1990);
/// Wilhelm, Ward, Solving quadratic assignment problems by simulated annealing, IIE Transactions 19 (1987)).
/// Ends with swap. Returns the best placement visited.
///
/// The more sweeps, the more `heat` pays: about 200 for 300 sweeps, and 1000 for 3,000 or more. Use less if
/// the start is better than those of greedy constructors. A proposal costs O(degree of both ranks). Work
/// counts the proposals of all chains. With sweeps=0, the temperature depends on the used share of the
/// budget:
/// results are reproducible under a work budget, but not under a time budget.
///
/// Memory, besides a copy of the graph with 8 bytes per edge: 96 bytes per slot for lists of near slots,
/// about 60 bytes per rank and chain. More than 20,000 ranks are annealed by regions.
[[nodiscard]] Placement improve_by_annealing(const Problem& problem, Placement start, Meter& meter,
                                             const AnnealOptions& options);

/// Anneals in regions of `region_size` ranks, which are chosen anew every few sweeps (0: all ranks at once,
/// in `chains` chains). The regions cool in parallel, and each treats the others as fixed: all cores work on
/// one placement, each in its own cache.
[[nodiscard]] Placement anneal_by_regions(const Problem& problem, Placement start, Meter& meter,
                                          const AnnealOptions& options, std::uint32_t region_size);

/// Anneals a few regions. Returns the share of their hop-bytes that this saves, an estimate of what annealing
/// all ranks would save. Takes little more time than O(edges).
[[nodiscard]] double estimate_annealing_gain(const Problem& problem, const Placement& start, Meter& meter,
                                             const AnnealOptions& options);

}  // namespace topoloom::local
