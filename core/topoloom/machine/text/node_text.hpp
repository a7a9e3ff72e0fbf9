// SPDX-License-Identifier: BSD-3-Clause
// Reads the structure of nodes, such as node:8:2,distance=1:2.
#pragma once

#include "topoloom/machine/machine.hpp"
#include "topoloom/machine/notation/text_piece.hpp"
#include "topoloom/machine/notation/topology_notation.hpp"

namespace topoloom {

/// Reads the section +node:, which may follow a topology and its failures.
extern const SectionForm node_form;

[[nodiscard]] NodeSpec read_node_spec(const Section& section);

}  // namespace topoloom
