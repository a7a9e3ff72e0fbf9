// SPDX-License-Identifier: BSD-3-Clause
// The parts with which multisection starts: the divisible machine, and the slots of fixed ranks.
#pragma once

#include <span>
#include <vector>

#include "topoloom/place/multilevel/machine_part.hpp"
#include "topoloom/place/problem.hpp"

namespace topoloom::multilevel {

/// The parts before the first division, and their ranks, part by part. The first part holds the ranks that are
/// not fixed, if any. Every slot with fixed ranks is a finished part, so that divisions see fixed ranks where they
/// are.
struct InitialParts {
    std::vector<Vertex> ranks;
    std::vector<RankedPart> parts;
};

/// The slots of fixed ranks, without repetition, ascending.
[[nodiscard]] std::vector<Position> list_fixed_slots(const Problem& problem);

/// `machine` must be made with list_fixed_slots(). `order` lists all ranks; those of the first part keep it.
[[nodiscard]] InitialParts make_initial_parts(const Problem& problem, const MachineParts& machine,
                                              std::span<const Rank> order);

/// By how much bytes must be shifted right for sums of bytes times distances to fit 64 bits. As these sums only
/// guide, low bits may be dropped.
[[nodiscard]] int compute_weight_shift(const Problem& problem, const MachineParts& machine);

}  // namespace topoloom::multilevel
