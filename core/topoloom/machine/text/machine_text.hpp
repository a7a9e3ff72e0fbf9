// SPDX-License-Identifier: BSD-3-Clause
// Machines as short texts: torus:8x8x8, tree:4:8:2,distance=1:10:100, torus:4x4+node:12:2.
#pragma once

#include <string_view>

#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// Reads
///   torus:EXTENTS or mesh:EXTENTS  EXTENTS as 8x8x8; options wrap=110 (torus: which axes are rings), nodes=N (a
///                                  router), order=2:0:1 (axes as routing corrects them), ties=plus|split,
///                                  bandwidth=B, bandwidth.AXIS=B, bandwidth.AXIS+=B, the same with latency
///   tree:ARITIES                   bottom-up, as 4:8:2; options distance=1:10:100, bandwidth=B:B:B, latency=T:T:T
///   fattree:ARITIES                bottom-up, as 4:4:4; options up=1:4:4 (parents), parallel=1:1:2 (cables to each),
///                                  routing=d-mod-k|s-mod-k|random|simgrid, bandwidth=B:B:B, latency=T:T:T
///   hyperx:EXTENTS                 routers of an axis all joined; options nodes=N, order=2:0:1, bandwidth=B,
///                                  bandwidth.AXIS=B, the same with latency
///   hypercube:DIMENSIONS           as hyperx:2x2x2...
///   ring:STATIONS                  a ring bus; options rings=N (each way), transfers=N (at once on a ring),
///                                  ties=split|plus, bandwidth=B (of a ring), latency=T
///   twisted:EXTENTS                a torus; options twist.AXIS=0:0:4 (shift of each axis where AXIS closes), nodes=N,
///                                  bandwidth and latency as for a torus
///   rails:GPUS:DOMAINS:UNITS       GPUs of an NVLink domain, domains of a unit; options rails=N, spines=N,
///                                  cross=nvlink|spine, bandwidth=B, bandwidth.nvlink=B, .rail, .spine, the same with
///                                  latency
///   dragonfly:GROUPSxROUTERS       or GROUPSxROWSxCOLUMNS; options nodes=N (a router), global=H (links a router),
///                                  arrangement=consecutive|palmtree|direct, routing=minimal|valiant|ugal,
///                                  bandwidth=B, bandwidth.KIND=B, the same with latency; KIND is local, global, row
///                                  or column
///   graph:NODES[+SWITCHES]:LINKS   0-1 both ways, 0>1 one way, 0-1@2GB/s; options route=0>2>1, bandwidth=B, latency=T,
///                                  forward=no (nodes do not, only switches do)
/// optionally followed by +down:ITEM,ITEM... with what is down: 17 a node, v40 a vertex (router or switch), 0-1 all links
/// between two vertices, 0>1 those one way; and by +node:ARITIES (bottom-up levels inside every node) with distance=D:D for the levels and,
/// as one entry more, the weight of a hop between nodes, and port=C:C for what the way to the node's network port costs
/// each of as many equal runs of slots. B is a bandwidth with unit, for one axis, direction or link
/// also half, double or quarter of the default; T a time with unit. No option may be given twice, but route=.
/// Throws Error naming the column and what was expected there.
[[nodiscard]] Machine make_machine(std::string_view text);

}  // namespace topoloom
