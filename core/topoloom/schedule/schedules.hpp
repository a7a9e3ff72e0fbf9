// SPDX-License-Identifier: BSD-3-Clause
// The schedules that there are: adding one is a file, a line in the variant, and a line in registry.cpp.
#pragma once

#include <variant>

#include "topoloom/schedule/binomial.hpp"
#include "topoloom/schedule/bruck.hpp"
#include "topoloom/schedule/chain.hpp"
#include "topoloom/schedule/combining_hypercube.hpp"
#include "topoloom/schedule/combining_mesh.hpp"
#include "topoloom/schedule/direct.hpp"
#include "topoloom/schedule/dissemination.hpp"
#include "topoloom/schedule/halving.hpp"
#include "topoloom/schedule/many_to_many_direct.hpp"
#include "topoloom/schedule/neighbor_exchange.hpp"
#include "topoloom/schedule/recursive_doubling.hpp"
#include "topoloom/schedule/relay.hpp"
#include "topoloom/schedule/ring.hpp"
#include "topoloom/schedule/scatter_all_gather.hpp"

namespace topoloom {

using AnySchedule = std::variant<   //
    Binomial,                       //
    Chain,                          //
    ScatterAllGather,               //
    Ring,                           //
    RecursiveDoubling,              //
    Halving,                        //
    Bruck,                          //
    NeighborExchange,               //
    Dissemination,                  //
    Direct<DirectOrder::cyclic>,    //
    Direct<DirectOrder::pairwise>,  //
    Direct<DirectOrder::at_once>,   //
    Relay<RelayOrder::prefix>,      //
    Relay<RelayOrder::shift>,       //
    CombiningMesh,                  //
    CombiningHypercube,             //
    ManyToManyDirect>;

/// Calls use(schedule) with the schedule itself: dispatches once, at the door.
template <class Use>
decltype(auto) with_schedule(const AnySchedule& schedule, const Use& use) {
    return std::visit(use, schedule);
}

}  // namespace topoloom
