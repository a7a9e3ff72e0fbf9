// SPDX-License-Identifier: BSD-3-Clause
// Reads machine text: torus:8x8x8, tree:4:8:2,distance=1:10:100, torus:4x4+node:12:2.
#pragma once

#include <string_view>

#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// Reads TOPOLOGY[+down:ITEM,...][+node:LEVELS,...]. A topology is KIND:BODY[,OPTION=VALUE...]; Topologies
/// lists the kinds and their options. An ITEM that is down is 17 (node), v40 (vertex: router or switch), 0-1
/// (all links between two vertices) or 0>1 (all links in one direction). LEVELS of a node are bottom-up, with
/// the options of node_form. Bandwidths and times have units; the bandwidth of an axis, direction or class of
/// links may also be half, double or quarter of the default. Only route= and table= may be repeated. Throws
/// Error with the column and the expected text.
[[nodiscard]] Machine make_machine(std::string_view text);

}  // namespace topoloom
