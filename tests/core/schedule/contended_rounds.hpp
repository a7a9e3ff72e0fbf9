// SPDX-License-Identifier: BSD-3-Clause
// Counts the rounds of an order that have contention, step by step.
#pragma once

#include <cstdint>
#include <span>

#include "topoloom/schedule/orders/contention_free_order.hpp"

namespace topoloom::testing {

/// The number of rounds in which messages contend, with the ranks on these nodes.
inline std::uint64_t contended_rounds(const Machine& machine, std::span<const RepeatedStep> steps,
                                      std::span<const Node> node_of_rank,
                                      ContentionModel meeting = ContentionModel::any_ascent) {
    std::uint64_t contended = 0;
    for (const auto& [step, rounds] : steps) {
        const auto messages = list_node_messages(step, node_of_rank);
        const Meetings found = meeting == ContentionModel::any_ascent
                                   ? AnyUpwardRoutes(require_fat_tree(machine)).meetings(messages)
                                   : meetings_on_routes(machine, messages);
        if (found.places > 0) contended += rounds;
    }
    return contended;
}

}  // namespace topoloom::testing
