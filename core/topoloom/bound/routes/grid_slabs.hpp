// SPDX-License-Identifier: BSD-3-Clause
// Parts of an allocation between two positions of a grid axis.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/bound/routes/node_clusters.hpp"
#include "topoloom/machine/allocations/allocation.hpp"

namespace topoloom::bound {

/// Consecutive positions of an axis, which wrap around.
struct Slab {
    std::uint32_t axis, first, last;
    std::uint64_t capacity;  // of its nodes
    std::uint64_t lines;     // along the axis, with a node of the slab
};

/// The slabs of a grid machine that begin and end with a node of the allocation. `capacity` by node of the
/// allocation. Empty unless the machine has a grid. O(axes * extent * nodes).
[[nodiscard]] std::vector<Slab> list_slabs(const Allocation& allocation,
                                           std::span<const std::uint64_t> capacity);

[[nodiscard]] NodePart nodes_of_slab(const Allocation& allocation, const Slab& slab);

}  // namespace topoloom::bound
