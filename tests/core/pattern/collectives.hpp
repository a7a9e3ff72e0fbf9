// SPDX-License-Identifier: BSD-3-Clause
// Communication graphs of common collectives for tests.
#pragma once

#include "topoloom/schedule/collectives/registry.hpp"
#include "topoloom/schedule/collectives/schedule_graph.hpp"

namespace topoloom {

inline CommGraph all_to_all(std::size_t ranks, Bytes bytes) {
    return pattern(make_schedule({Operation::all_to_all, ranks, bytes}, "at-once"));
}

inline CommGraph bruck(std::size_t ranks, Bytes bytes) {
    return pattern(make_schedule({Operation::all_gather, ranks, bytes}, "bruck"));
}

inline CommGraph recursive_doubling(std::size_t ranks, Bytes bytes) {
    return pattern(make_schedule({Operation::all_gather, ranks, bytes}, "recursive-doubling"));
}

inline CommGraph binomial_tree(std::size_t ranks, Bytes bytes, Rank root = Rank{0}) {
    return pattern(make_schedule({Operation::broadcast, ranks, bytes, root}, "binomial"));
}

}  // namespace topoloom
