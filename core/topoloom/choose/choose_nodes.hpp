// SPDX-License-Identifier: BSD-3-Clause
// Chooses the free nodes on which a job has the fewest hop-bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "topoloom/base/budget.hpp"
#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

struct ChosenNodes {
    Allocation allocation;         // chosen nodes, in the order of the free nodes
    Placement placement;           // placement of the ranks on the chosen nodes
    std::int64_t hop_bytes;        // hop-bytes of `placement`
    std::int64_t first_hop_bytes;  // hop-bytes with the same mapper on the first free nodes
    /// Hop-bytes with the same mapper on random nodes; none if time ran out before.
    std::optional<std::int64_t> random_hop_bytes;
    std::uint64_t work;  // candidates evaluated
};

/// Chooses `count` of the free nodes and places the ranks on their slots with the mapper `chain`. Tries the
/// first free nodes, random nodes, the most compact ones (see compact_nodes()) and, if the pattern has a
/// structure, boxes of free nodes. Then combines the ranks on each node of the best candidate into one task.
/// Maps the tasks to free nodes, once from scratch and once by annealing. Finally, places the ranks again on
/// the nodes found.
///
/// The result is never worse than the mapper's placement on the first free nodes. Every step stops when the
/// budget ends, but the first step always produces a result. If ranks leave nodes empty, these are the first
/// free ones.
/// Throws Error unless 1 <= count <= free nodes, every free node has all of its slots, and the ranks fit on
/// `count` nodes.
[[nodiscard]] ChosenNodes choose_nodes(const CommGraph& graph, const Allocation& free, std::size_t count,
                                       std::string_view chain = "auto", std::uint64_t seed = 1,
                                       int threads = 0, const Budget& budget = {});

}  // namespace topoloom
