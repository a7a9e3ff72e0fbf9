// SPDX-License-Identifier: BSD-3-Clause
// Recognizes the pattern of the ranks and places it with boxes and foldings.
#pragma once

#include <optional>
#include <string>

#include "topoloom/place/mapper.hpp"

namespace topoloom::structure {

struct StructuredPlacement {
    Placement placement;
    std::string pattern;  // what was recognized, such as `16x16 star grid`
    bool optimal;         // proven: no placement has fewer hop-bytes
    /// A grid on a machine of the same shape, or in plain boxes: hardly ever to be improved.
    bool plain = false;
};

/// Recognizes the pattern (see recognize(), find_hub() and find_binomial_tree()), then tries, as long as the meter
/// lasts: blocks of ranks for every router, cut into boxes for the levels inside it or for a whole tree, with the
/// blocks folded onto the axes of a torus in the foldings that are estimated best; and, unless that fits plainly,
/// halving both sides at once, and lines through both. Returns what has the least hop-bytes, block order included;
/// nothing if the pattern is not recognized. The more edges, the fewer trials: up to 64 of a kind at 10^4 edges, two
/// from 10^6 on. Work counts ranks placed. Bhatele, Kale, Benefits of Topology Aware Mapping for Mesh Interconnects,
/// PPL 18(4), 2008; foldings: Ma, Tao, Embeddings among toruses and meshes, ICPP 1987.
[[nodiscard]] std::optional<StructuredPlacement> place_by_structure(const Problem& problem, Meter& meter);

/// place_by_structure() as a mapper; block order if no pattern is recognized.
[[nodiscard]] Placement place_structure(const Problem& problem, Meter& meter);

}  // namespace topoloom::structure
