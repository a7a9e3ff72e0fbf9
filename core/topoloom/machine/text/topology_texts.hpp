// SPDX-License-Identifier: BSD-3-Clause
// Readers of the topologies' short texts: one for each kind, in a file of its own.
#pragma once

#include "topoloom/machine/machine.hpp"
#include "topoloom/machine/text/text_piece.hpp"

namespace topoloom {

[[nodiscard]] WholeTopology read_torus(const Section& section);
[[nodiscard]] WholeTopology read_mesh(const Section& section);
[[nodiscard]] WholeTopology read_tree(const Section& section);
[[nodiscard]] WholeTopology read_fat_tree(const Section& section);
[[nodiscard]] WholeTopology read_hyperx(const Section& section);
[[nodiscard]] WholeTopology read_hypercube(const Section& section);
[[nodiscard]] WholeTopology read_ring(const Section& section);
[[nodiscard]] WholeTopology read_twisted(const Section& section);
[[nodiscard]] WholeTopology read_rails(const Section& section);
[[nodiscard]] WholeTopology read_dragonfly(const Section& section);
[[nodiscard]] WholeTopology read_graph(const Section& section);

/// What is down, as down:17,v40,0-1,5>6.
[[nodiscard]] Failures read_failures(const Section& section);

}  // namespace topoloom
