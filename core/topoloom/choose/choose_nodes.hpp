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
    std::int64_t first_hop_bytes;  // hop-bytes of the same mapper on the first free nodes
    /// Hop-bytes on random nodes; none if the time ran out.
    std::optional<std::int64_t> random_hop_bytes;
    std::uint64_t work;  // candidates evaluated
};

/// Chooses `count` of the free nodes and places the ranks on their slots with the mapper `chain`. Tries the
/// first free nodes, random nodes, the most compact ones (compact_nodes()) and, if the pattern has a
/// structure, free boxes. Then combines the ranks of every node of the best candidate into one task, and maps
/// the tasks to all free nodes: from scratch, and by annealing. Finally, it places the ranks again on the
/// nodes found.
///
/// The result is never worse than the first free nodes under the same search. Every step ends early with the
/// budget, but the first step always produces a result. Nodes without ranks are the first free ones. Throws
/// Error unless 1 <= count <= free nodes, every free node has all of its slots, and the ranks fit on `count`
/// nodes.
[[nodiscard]] ChosenNodes choose_nodes(const CommGraph& graph, const Allocation& free, std::size_t count,
                                       std::string_view chain = "auto", std::uint64_t seed = 1,
                                       int threads = 0, const Budget& budget = {});

}  // namespace topoloom
