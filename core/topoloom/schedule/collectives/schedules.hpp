// SPDX-License-Identifier: BSD-3-Clause
// The schedules that there are: adding one is a file, a line in the variant, and a line in registry.cpp.
#pragma once

#include <variant>

#include "topoloom/schedule/collectives/bine_butterfly.hpp"
#include "topoloom/schedule/collectives/bine_tree.hpp"
#include "topoloom/schedule/collectives/binomial.hpp"
#include "topoloom/schedule/collectives/bruck.hpp"
#include "topoloom/schedule/collectives/chain.hpp"
#include "topoloom/schedule/collectives/combining_hypercube.hpp"
#include "topoloom/schedule/collectives/combining_mesh.hpp"
#include "topoloom/schedule/collectives/direct.hpp"
#include "topoloom/schedule/collectives/disjoint_trees.hpp"
#include "topoloom/schedule/collectives/dissemination.hpp"
#include "topoloom/schedule/collectives/halving.hpp"
#include "topoloom/schedule/collectives/halving_reduce.hpp"
#include "topoloom/schedule/collectives/linear.hpp"
#include "topoloom/schedule/collectives/many_to_many_direct.hpp"
#include "topoloom/schedule/collectives/neighbor_exchange.hpp"
#include "topoloom/schedule/collectives/recursive_doubling.hpp"
#include "topoloom/schedule/collectives/relay.hpp"
#include "topoloom/schedule/collectives/ring.hpp"
#include "topoloom/schedule/collectives/scan.hpp"
#include "topoloom/schedule/collectives/scatter_all_gather.hpp"
#include "topoloom/schedule/collectives/two_trees.hpp"

namespace topoloom {

using AnySchedule = std::variant<   //
    Binomial,                       //
    BineTree,                       //
    BineButterfly,                  //
    Chain,                          //
    TwoTrees,                       //
    DisjointTrees,                  //
    Linear,                         //
    ScatterAllGather,               //
    Ring,                           //
    RecursiveDoubling,              //
    Halving,                        //
    HalvingReduce,                  //
    ScanDoubling,                   //
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
