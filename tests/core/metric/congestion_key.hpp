// SPDX-License-Identifier: BSD-3-Clause
// Computes the congestion key of a placement from scratch.
#pragma once

#include <span>

#include "topoloom/metric/loads/link_loads.hpp"

inline topoloom::CongestionKey congestion_key(const topoloom::CommGraph& graph,
                                              const topoloom::Machine& machine,
                                              std::span<const topoloom::Slot> slot_of_rank) {
    return topoloom::LinkLoads(machine, graph, slot_of_rank).key();
}
