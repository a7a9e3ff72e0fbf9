// SPDX-License-Identifier: BSD-3-Clause
// Multilevel multisection: recursively splits the machine, and the graph with it.
#pragma once

#include "topoloom/place/mapper.hpp"
#include "topoloom/place/multilevel/full_ring_measurement.hpp"

namespace topoloom::multilevel {

struct MultisectionOptions {
    std::uint32_t starts = 4;
    std::uint32_t cycles = 0;
    FullRingMeasurement rings = FullRingMeasurement::lines;
    std::uint32_t family = 4;
    std::uint32_t islands = 1;
    std::uint32_t cuts = 3;
    void visit(auto& field) {
        field("starts", starts, Range{1, 1000}, "first splits tried for every part of the machine");
        field("cycles", cycles, Range{0, 1000}, "times that every split is coarsened and refined once more");
        field("rings", rings, Choices{"lines", "rings"},
              "tori: what full rings count as when parts are compared");
        field("family", family, Range{1, 1000}, "shared slots: splits of the coarsest graph, which evolve");
        field("islands", islands, Range{1, 1000}, "shared slots: families, whose best evolve together");
        field("cuts", cuts, Range{0, 1000}, "shared slots: rounds of minimum cuts between groups");
    }
};

/// Halves the allocation recursively at its most natural borders: levels of a tree, planes of a torus. Splits
/// the ranks accordingly, so that the hop-bytes across the cut and to ranks elsewhere on the machine are
/// minimal. This is dual recursive bipartitioning (Pellegrini, Roman, HPCN 1996) with a multilevel bisection
/// per step; all parts of a step are divided together. Needs no table of all distances. With one rank per
/// slot, no part gets more ranks than slots; if ranks outnumber slots, the same splits also partition the
/// ranks. About O(edges
/// * log slots).
[[nodiscard]] Placement place_multisection(const Problem& problem, Meter& meter,
                                           const MultisectionOptions& options);

/// place_multisection() without repair: if ranks of different loads share slots, some slots may exceed their
/// capacities.
[[nodiscard]] Placement place_multisection_without_repair(const Problem& problem, Meter& meter,
                                                          const MultisectionOptions& options);

}  // namespace topoloom::multilevel
