// SPDX-License-Identifier: BSD-3-Clause
// Readers of the topologies' short texts: one for each kind, in a file of its own.
#pragma once

#include "topoloom/machine/machine.hpp"
#include "topoloom/machine/text_piece.hpp"

namespace topoloom {

[[nodiscard]] AnyTopology read_torus(const Section& section);
[[nodiscard]] AnyTopology read_mesh(const Section& section);
[[nodiscard]] AnyTopology read_tree(const Section& section);
[[nodiscard]] AnyTopology read_graph(const Section& section);

}  // namespace topoloom
