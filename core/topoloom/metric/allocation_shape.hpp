// SPDX-License-Identifier: BSD-3-Clause
// What an allocation looks like on its machine: how far its nodes are apart, and which links are its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/big_vector.hpp"
#include "topoloom/machine/allocations/allocation.hpp"

namespace topoloom {

/// Mean network distance over ordered pairs of different nodes of the allocation; 0 for one node.
[[nodiscard]] double average_distance(const Allocation& allocation);

/// For every link, how many messages cross it when every node of the allocation sends one to every other; fractions
/// where routes are split. O(nodes^2 * route), on all cores; the same for any number of threads.
[[nodiscard]] BigVector<double> all_pairs_loads(const Allocation& allocation, int threads = 0);

/// Directed links, by where their ends are; see Territory.
struct AllocationShape {
    std::size_t components = 0;
    std::size_t links_inside = 0;          // both ends belong to the allocation
    std::size_t links_leaving = 0;         // from a vertex of the allocation to one that is not: its surface
    std::size_t links_used = 0;            // by routes between its nodes
    std::vector<std::uint32_t> foreign{};  // links used that are not the allocation's alone, ascending
    double foreign_share = 0;              // of all hops between its nodes, those over foreign links
};

/// `loads` are all_pairs_loads().
[[nodiscard]] AllocationShape allocation_shape(const Allocation& allocation, std::span<const double> loads);

}  // namespace topoloom
