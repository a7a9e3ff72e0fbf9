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
    Allocation allocation;         // in the order of the free nodes
    Placement placement;           // of the ranks on them
    std::int64_t hop_bytes;        // of that placement
    std::int64_t first_hop_bytes;  // of the same mapper's on the first free nodes
    /// The same on nodes drawn at random; nothing if no time was left.
    std::optional<std::int64_t> random_hop_bytes;
    std::uint64_t work;  // candidates evaluated
};

/// Chooses `count` of the free nodes, and places the ranks on all of their slots with the mapper `chain`. Tried are the
/// first free nodes, random ones, the most compact ones (compact_nodes()) and, if the pattern has a structure, free
/// boxes. From the best of them on, the ranks of every node stay together as one task, and these tasks are placed among all free
/// nodes: afresh, and by annealing; the nodes they end on are the choice. At last the ranks are placed on it again. So
/// the choice is never worse than the first free nodes under the same search. Every step ends early with the budget;
/// the first one always gives an answer. Nodes that no rank needs are the first free ones.
/// Throws Error unless 1 <= count <= free nodes, every free node has all of its slots, and the ranks fit on `count` nodes.
[[nodiscard]] ChosenNodes choose_nodes(const CommGraph& graph, const Allocation& free, std::size_t count,
                                       std::string_view chain = "auto", std::uint64_t seed = 1,
                                       int threads = 0, const Budget& budget = {});

}  // namespace topoloom
