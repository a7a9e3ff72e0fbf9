// SPDX-License-Identifier: BSD-3-Clause
// The list of topologies. A new one: a file that meets the concept, and its name here.
#pragma once

#include <variant>

#include "topoloom/machine/topologies/dragonfly.hpp"
#include "topoloom/machine/topologies/explicit_graph.hpp"
#include "topoloom/machine/topologies/fat_tree.hpp"
#include "topoloom/machine/topologies/hosted.hpp"
#include "topoloom/machine/topologies/hyperx.hpp"
#include "topoloom/machine/topologies/rail_cluster.hpp"
#include "topoloom/machine/topologies/ring_bus.hpp"
#include "topoloom/machine/topologies/torus.hpp"
#include "topoloom/machine/topologies/tree.hpp"
#include "topoloom/machine/topologies/twisted_torus.hpp"

namespace topoloom {

template <class... More>
using TopologiesAnd =
    std::variant<Torus, Hosted<Torus>, Hosted<WideTorus>, Tree, FatTree, Hosted<HyperX>, Hosted<Hypercube>,
                 RingBus, Hosted<TwistedTorus>, RailCluster, Hosted<Dragonfly>, ExplicitGraph, More...>;

/// A topology as it was built, with nothing down.
using WholeTopology = TopologiesAnd<>;

}  // namespace topoloom
