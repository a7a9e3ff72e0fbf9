// SPDX-License-Identifier: BSD-3-Clause
// A placement problem as a dense quadratic assignment problem (QAP): ranks, slots and all distances in
// matrices.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "topoloom/place/problem.hpp"
#include "topoloom/qap/qap.hpp"

namespace topoloom {

/// Throws Error, naming the mapper, if this many searches on matrices of this order would not fit in memory.
void require_dense_memory(std::string_view mapper, std::size_t order, std::size_t searches);

/// [u * order + v]: bytes from u to v; 0 for items that are not ranks.
[[nodiscard]] std::vector<std::int64_t> dense_bytes(const CommGraph& graph, std::size_t order);
/// Distances between all slots, by position.
[[nodiscard]] std::vector<std::int64_t> dense_distances(const Allocation& allocation);
/// [u * slots + x]: cost of moving u to the slot at x; empty without an earlier placement.
[[nodiscard]] std::vector<std::int64_t> dense_migration_costs(const Problem& problem);

/// The QAP of a problem. Items are the ranks, plus an item without messages for each free slot; locations are
/// positions in the allocation. Distances may be asymmetric. The QAP value equals the problem's value:
/// hop-bytes, including migration cost.
[[nodiscard]] qap::Qap dense_qap(const Problem& problem);

[[nodiscard]] qap::Permutation assignment_of(const Problem& problem, const Placement& placement);
[[nodiscard]] Placement placement_of(const Problem& problem, std::span<const std::uint32_t> assignment);

}  // namespace topoloom
