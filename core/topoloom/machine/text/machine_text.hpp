// SPDX-License-Identifier: BSD-3-Clause
// Machines as short texts: torus:8x8x8, tree:4:8:2,distance=1:10:100, torus:4x4+node:12:2.
#pragma once

#include <string_view>

#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// Reads TOPOLOGY[+down:ITEM,...][+node:LEVELS,...]. A topology is KIND:BODY[,OPTION=VALUE...]: topology_texts lists the kinds,
/// each with its options. Behind +down: stands what is down: 17 (node), v40 (vertex: router or switch), 0-1 (all links
/// between two vertices) or 0>1 (those in one direction); behind +node: the levels inside every node, bottom-up, with
/// the options of node_form. Bandwidths and times have units; the bandwidth of one axis, direction or class of links
/// may also be half, double or quarter of the default. Only route= may be given more than once. Throws Error naming the
/// column and what was expected there.
[[nodiscard]] Machine make_machine(std::string_view text);

}  // namespace topoloom
