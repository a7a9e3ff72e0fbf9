// SPDX-License-Identifier: BSD-3-Clause
// The list of topologies. A new one: a file that meets the concept, its type here, and the texts that make it.
#pragma once

#include <array>
#include <variant>

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

template <class... More>
using TopologiesAnd = std::variant<Torus, Hosted<Torus>, Hosted<WideTorus>, Tree, FatTree, Hosted<HyperX>,
                                   Hosted<Hypercube>, RingBus, Hosted<TwistedTorus>, RailCluster,
                                   Hosted<Dragonfly>, Hosted<DragonflyPlus>, ExplicitGraph, More...>;

/// A topology as it was built, with nothing down.
using WholeTopology = TopologiesAnd<>;

/// What machine text says of a kind of topology; each stands in text/..._text.cpp.
struct TopologyText;
extern const TopologyText torus_text, mesh_text, twisted_text, hyperx_text, hypercube_text, ring_text,
    tree_text, fat_tree_text, dragonfly_text, dragonfly_plus_text, rails_text, graph_text;

/// All of them, in the order in which they are shown.
inline constexpr std::array topology_texts{
    &torus_text, &mesh_text,     &twisted_text,   &hyperx_text,         &hypercube_text, &ring_text,
    &tree_text,  &fat_tree_text, &dragonfly_text, &dragonfly_plus_text, &rails_text,     &graph_text};

}  // namespace topoloom
