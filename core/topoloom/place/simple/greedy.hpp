// SPDX-License-Identifier: BSD-3-Clause
// Greedy constructors that grow a placement along the communication graph: GGE, MAHD and EMAHD.
#pragma once

#include "topoloom/place/mapper.hpp"

namespace topoloom {

struct MahdOptions {
    std::uint32_t weighted = 0;
    void visit(auto& field) {
        field("weighted", weighted, Range{0, 1},
              "1: weigh the distance to each partner by the bytes exchanged with it");
    }
};

struct EmahdOptions {
    std::uint32_t weighted = 0;
    std::uint32_t starts = 0;
    void visit(auto& field) {
        field("weighted", weighted, Range{0, 1},
              "1: weigh the distance to each partner by the bytes exchanged with it");
        field("starts", starts, Range{0, 1e9}, "first ranks to try, spread evenly; 0: every rank");
    }
};

/// MAHD (Sudheer 2012, ch. 6, algorithm 1): starts with the rank of most partners on the node nearest to all others,
/// then always takes the rank of most partners among the neighbors of placed ones, and puts it on the free slot with
/// the least average distance to its placed partners. Ties go to the lowest index. Every component of the graph
/// starts anew at the most central free slot. About O(edges + ranks * log slots) on a torus.
[[nodiscard]] Placement place_mahd(const Problem& problem, Meter& meter, const MahdOptions& options);

/// MAHD from every first rank (or an even choice of them), on all cores; keeps the least hop-bytes.
[[nodiscard]] Placement place_emahd(const Problem& problem, Meter& meter, const EmahdOptions& options);

/// GGE, the comparator of the same chapter: like MAHD, but beside the most recently placed partner only.
[[nodiscard]] Placement place_gge(const Problem& problem, Meter& meter);

}  // namespace topoloom
