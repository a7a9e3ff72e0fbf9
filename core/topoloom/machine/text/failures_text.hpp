// SPDX-License-Identifier: BSD-3-Clause
// Reads failures, such as down:17,v40,0-1,5>6.
#pragma once

#include "topoloom/machine/degraded_topology.hpp"
#include "topoloom/machine/notation/text_piece.hpp"
#include "topoloom/machine/notation/topology_notation.hpp"

namespace topoloom {

/// Reads the section +down:, which may follow a topology.
extern const SectionForm down_form;

[[nodiscard]] Failures read_failures(const Section& section);

}  // namespace topoloom
