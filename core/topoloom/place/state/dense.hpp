// SPDX-License-Identifier: BSD-3-Clause
// A placement problem as a dense QAP: ranks and slots with all their distances in one matrix.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "topoloom/place/problem.hpp"
#include "topoloom/qap/qap.hpp"

namespace topoloom {

/// Throws Error, naming the mapper, when this number of searches on matrices of this order would not fit in memory.
void require_dense_memory(std::string_view mapper, std::size_t order, std::size_t searches);

/// [u * order + v]: bytes from u to v, 0 for items that are not ranks.
[[nodiscard]] std::vector<std::int64_t> dense_bytes(const CommGraph& graph, std::size_t order);
/// Between all slots, by position.
[[nodiscard]] std::vector<std::int64_t> dense_distances(const Allocation& allocation);
/// [u * slots + x]: of moving u to the slot at x; empty without an earlier placement.
[[nodiscard]] std::vector<std::int64_t> dense_migration_costs(const Problem& problem);

/// Items are the ranks, then as many that send nothing as there are free slots; locations are the positions in the
/// allocation. Distances need not be symmetric. The value is that of the problem: hop-bytes, with those of moving.
[[nodiscard]] qap::Qap dense_qap(const Problem& problem);

[[nodiscard]] qap::Permutation assignment_of(const Problem& problem, const Placement& placement);
[[nodiscard]] Placement placement_of(const Problem& problem, std::span<const std::uint32_t> assignment);

}  // namespace topoloom
