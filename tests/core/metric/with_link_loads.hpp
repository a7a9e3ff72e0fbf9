// SPDX-License-Identifier: BSD-3-Clause
// The plain link loads of one phase.
#pragma once

#include <span>

#include "topoloom/metric/link_loads.hpp"

/// Calls use(loads) with the LinkLoads of the machine's network; for the arguments see there.
template <class Use>
decltype(auto) with_link_loads(const topoloom::Machine& machine, const topoloom::CommGraph& graph,
                               std::span<const topoloom::Slot> slot_of_rank,
                               std::span<const double> background, const Use& use,
                               topoloom::Busy busy = topoloom::Busy::links) {
    return with_common_topology(machine, [&]<class T>(const T& network) -> decltype(auto) {
        topoloom::LinkLoads<T> loads(network, machine, graph, slot_of_rank, background, busy);
        return use(loads);
    });
}

inline topoloom::CongestionKey congestion_key(const topoloom::CommGraph& graph,
                                              const topoloom::Machine& machine,
                                              std::span<const topoloom::Slot> slot_of_rank) {
    return with_link_loads(machine, graph, slot_of_rank, {}, [](auto& loads) { return loads.key(); });
}
