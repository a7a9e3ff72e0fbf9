// SPDX-License-Identifier: BSD-3-Clause
// Communication graphs of common collectives for tests.
#pragma once

#include "topoloom/schedule/collectives/registry.hpp"
#include "topoloom/schedule/collectives/schedule_graph.hpp"

namespace topoloom {

inline CommGraph alltoall(std::size_t ranks, Bytes bytes) {
    return pattern(make_schedule({Operation::alltoall, ranks, bytes}, "at-once"));
}

inline CommGraph bruck(std::size_t ranks, Bytes bytes) {
    return pattern(make_schedule({Operation::allgather, ranks, bytes}, "bruck"));
}

inline CommGraph recursive_doubling(std::size_t ranks, Bytes bytes) {
    return pattern(make_schedule({Operation::allgather, ranks, bytes}, "recursive-doubling"));
}

inline CommGraph binomial_tree(std::size_t ranks, Bytes bytes, Rank root = Rank{0}) {
    return pattern(make_schedule({Operation::bcast, ranks, bytes, root}, "binomial"));
}

}  // namespace topoloom
