// SPDX-License-Identifier: BSD-3-Clause
// Simulated annealing: the improver that gains most from more time.
#pragma once

#include "topoloom/place/local/anneal_options.hpp"
#include "topoloom/place/mapper.hpp"

namespace topoloom::local {

/// Proposes to put every rank in turn on a slot near one of its heavier partners, where it changes places with
/// whoever is there, and accepts what gains, or loses little compared with a temperature that falls by a constant
/// factor until only gains pass (Connolly, An improved annealing scheme for the QAP, EJOR 46 (1990); Wilhelm, Ward,
/// Solving quadratic assignment problems by simulated annealing, IIE Transactions 19 (1987)). Ends with swap. Returns
/// the best placement seen. The more sweeps, the more heat pays: about 200 for 300 sweeps, 1000 from 3,000 on; from a
/// start that is better than greedy constructors make, less. A proposal costs O(degree of the two). Work counts
/// proposals of all chains. With sweeps=0 the temperature follows the share of the budget that is used up, so the
/// result is the same each time under a budget of work, not of seconds. Memory, besides a copy of the graph of 8 bytes
/// per edge: 96 bytes per slot for lists of near slots, about 60 per rank and chain. More than 20,000 ranks are
/// annealed by regions.
[[nodiscard]] Placement improve_by_annealing(const Problem& problem, Placement start, Meter& meter,
                                             const AnnealOptions& options);

/// The same in regions of `region_size` ranks, which are redrawn every few sweeps (0: all at once, in `chains`
/// chains). The regions cool side by side, each as if the others stood still: all cores work on one placement, in their
/// caches.
[[nodiscard]] Placement anneal_by_regions(const Problem& problem, Placement start, Meter& meter,
                                          const AnnealOptions& options, std::uint32_t region_size);

}  // namespace topoloom::local
