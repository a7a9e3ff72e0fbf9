// SPDX-License-Identifier: BSD-3-Clause
// Repairs placements that exceed the capacities of shared slots.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "topoloom/partition/weighted_graph.hpp"
#include "topoloom/place/problem.hpp"

namespace topoloom::shared {

/// The graph of a problem for searches on shared slots.
[[nodiscard]] partition::WeightedGraph make_shared_graph(const Problem& problem);

/// Whether no shared slot exceeds its capacity.
[[nodiscard]] bool fits(const Problem& problem, const Placement& placement);

/// Returns the placement if it fits; else moves single ranks at the lowest cost until it fits. None if such
/// moves do not suffice.
[[nodiscard]] std::optional<Placement> try_to_fit(const Problem& problem, Placement placement);

/// try_to_fit(), but throws Error on failure.
[[nodiscard]] Placement fit_or_throw(const Problem& problem, Placement placement);

[[noreturn]] void fail_to_fit();

/// The part of every rank: the position of its slot in the allocation.
[[nodiscard]] std::vector<Part> list_parts_of_ranks(const Allocation& allocation,
                                                    std::span<const Slot> slot_of_rank);

/// The inverse of list_parts_of_ranks().
[[nodiscard]] Placement make_shared_placement(const Allocation& allocation,
                                              std::span<const Part> part_of_rank);

}  // namespace topoloom::shared
