// SPDX-License-Identifier: BSD-3-Clause
// The list of topologies.
#pragma once

#include "topoloom/machine/notation/topology_table.hpp"
#include "topoloom/machine/topologies/dragonfly.hpp"
#include "topoloom/machine/topologies/dragonfly_plus.hpp"
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

/// All kinds of topologies, in display order. To add one, include its header and list its notation.
using Topologies = TopologyTable<torus_notation, mesh_notation, twisted_notation, hyperx_notation,
                                 hypercube_notation, ring_notation, tree_notation, fat_tree_notation,
                                 dragonfly_notation, dragonfly_plus_notation, rails_notation, graph_notation>;

/// A topology without failures.
using IntactTopology = Topologies::Topology;

}  // namespace topoloom
