// SPDX-License-Identifier: BSD-3-Clause
// A placement problem as a dense quadratic assignment problem (QAP): ranks, slots and all distances in
// matrices.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "topoloom/place/problem.hpp"
#include "topoloom/place/state/movable_part.hpp"
#include "topoloom/qap/qap.hpp"

namespace topoloom {

/// Throws Error, naming the mapper, if this many searches on matrices of this order would not fit in memory.
void require_dense_memory(std::string_view mapper, std::size_t order, std::size_t searches);

/// The QAP of the movable part of a problem. Items are its ranks, plus an item without messages for each free
/// slot; locations are its slots. Distances may be asymmetric. The QAP value plus fixed_cost() equals the
/// problem's value: hop-bytes, including migration cost.
[[nodiscard]] qap::Qap dense_qap(const MovablePart& part);

[[nodiscard]] qap::Permutation assignment_of(const MovablePart& part, const Placement& placement);
[[nodiscard]] Placement placement_of(const MovablePart& part, std::span<const std::uint32_t> assignment);

}  // namespace topoloom
