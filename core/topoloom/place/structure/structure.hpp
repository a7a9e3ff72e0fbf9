// SPDX-License-Identifier: BSD-3-Clause
// Recognizes the structure of a pattern and places it with boxes and foldings.
#pragma once

#include <optional>
#include <string>

#include "topoloom/place/mapper.hpp"

namespace topoloom::structure {

struct StructuredPlacement {
    Placement placement;
    std::string pattern;  // recognized pattern, such as `16x16 star grid`
    bool optimal;         // whether no placement has fewer hop-bytes (proven)
    /// Whether the machine has the shape of the grid, or the boxes are plain. Such placements can hardly ever
    /// be improved.
    bool plain = false;
};

/// Recognizes the pattern (see recognize(), find_hub() and find_binomial_tree()) and tries structured
/// placements until the meter is exhausted. First, it forms one block of ranks per router and folds the
/// blocks onto the axes of a torus, best estimates first. Each block is cut into boxes for the levels inside
/// the router; on a tree, one block covers the whole tree. Unless that gives a plain folding, it also halves
/// pattern and slots together, and matches lines through both.
///
/// Returns the placement with the fewest hop-bytes, or block order if that has fewer; none if the pattern is
/// not recognized. The more edges, the fewer trials: up to 64 of a kind for 10^4 edges, two for 10^6 or more.
/// Work counts ranks placed. Bhatele, Kale, Benefits of Topology Aware Mapping for Mesh Interconnects, PPL
/// 18(4), 2008; foldings: Ma, Tao, Embeddings among toruses and meshes, ICPP 1987.
[[nodiscard]] std::optional<StructuredPlacement> place_by_structure(const Problem& problem, Meter& meter);

/// Runs place_by_structure() as a mapper; returns block order if no pattern is recognized.
[[nodiscard]] Placement place_structure(const Problem& problem, Meter& meter);

}  // namespace topoloom::structure
