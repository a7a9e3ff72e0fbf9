// SPDX-License-Identifier: BSD-3-Clause
// Shape of an allocation: average distance between nodes, and links shared with other jobs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/big_vector.hpp"
#include "topoloom/machine/allocations/allocation.hpp"

namespace topoloom {

/// Returns the mean network distance over ordered pairs of different nodes of the allocation; 0 for one node.
[[nodiscard]] double average_distance(const Allocation& allocation);

/// Returns the link loads that result if every node of the allocation sends one message to every other node.
/// Loads are fractional for split routes. O(nodes^2 * route length), on all cores. The result does not depend
/// on the number of threads.
[[nodiscard]] BigVector<double> all_pairs_loads(const Allocation& allocation, int threads = 0);

/// Connected components of an allocation, and its links by use. Links are directed; see Territory.
struct AllocationShape {
    std::size_t components = 0;
    std::size_t links_inside = 0;          // links with both ends in the allocation
    std::size_t links_leaving = 0;         // links that lead out of the allocation
    std::size_t links_used = 0;            // links on routes between allocated nodes
    std::vector<std::uint32_t> foreign{};  // used links that are open to other jobs, ascending
    double foreign_share = 0;              // share of hops over foreign links
};

/// Computes the shape. `loads` is the result of all_pairs_loads().
[[nodiscard]] AllocationShape allocation_shape(const Allocation& allocation, std::span<const double> loads);

}  // namespace topoloom
