// SPDX-License-Identifier: BSD-3-Clause
// GRASP for the quadratic assignment problem: randomized greedy starts, each followed by pair exchange.
#pragma once

#include <span>

#include "topoloom/place/mapper.hpp"
#include "topoloom/qap/qap.hpp"

namespace topoloom::dense {

/// Which greedy placement local search improves before the random starts.
enum class WarmStart : std::uint8_t { automatic, none, gge, mahd, emahd };
inline const Choices warm_start_names{"auto", "none", "gge", "mahd", "emahd"};

struct GraspOptions {
    std::uint32_t alpha = 20;
    std::uint32_t beta = 100;
    std::uint32_t restarts = 0;
    WarmStart warm = WarmStart::automatic;
    std::uint32_t dense = 1000;
    void visit(auto& field) {
        field("alpha", alpha, Range{0, 1000},
              "length of the restricted candidate list, per mille of all candidates; up to `dense` slots at "
              "least 5");
        field("beta", beta, Range{0, 1000},
              "per mille of flows and distances among which the first pair is chosen; along edges, of the "
              "most central slots");
        field("restarts", restarts, Range{0, 1e9},
              "number of starts, the best of which counts; 0: fewer for more slots");
        field("warm", warm, warm_start_names,
              "the placement that is improved first, before all random starts; auto: emahd up to `dense` "
              "slots, none above");
        field("dense", dense, Range{0, 10000},
              "up to this number of slots all exchanges are examined, above it those of near ranks, without "
              "matrices");
    }
};

/// The best of several restarts (Li, Pardalos, Resende, DIMACS Series 16, 1994): The first pair is drawn
/// from the smallest products of large flows and small distances. Then (item, location) pairs are drawn
/// from the cheapest ones relative to the assigned items; items with flow to assigned items come first.
/// Then the best pair exchange is performed until none helps. Assignments in `warm` are improved first, in
/// the same way. A restart costs O(order^3) at most; memory about 500 * order^2 bytes. The result does not
/// depend on the number of threads.
[[nodiscard]] qap::Permutation grasp(const qap::Qap& qap, std::span<const qap::Permutation> warm,
                                     std::uint64_t seed, int threads, Meter& meter,
                                     const GraspOptions& options);

/// Runs grasp() on the whole problem up to `dense` slots, and greedy::grasp_along_edges() on larger ones.
/// Throws Error if the matrices do not fit in memory.
[[nodiscard]] Placement place_grasp(const Problem& problem, Meter& meter, const GraspOptions& options);

/// Number of concurrent starts.
inline constexpr std::size_t grasp_searches = 8;

}  // namespace topoloom::dense
