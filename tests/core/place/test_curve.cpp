// SPDX-License-Identifier: BSD-3-Clause
// Mappers along space-filling curves: ranks by number along the slots' curve, and ranks and slots along the
// same kind of curve.
#include <doctest.h>

#include <algorithm>

#include "changed_graphs.hpp"
#include "topoloom/machine/allocations/curves.hpp"
#include "topoloom/machine/allocations/fragments.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/pattern/generators/stencil.hpp"
#include "topoloom/place/mapper.hpp"

using namespace topoloom;

namespace {

const std::vector<std::string> curves{"hilbert", "morton", "peano", "snake"};

}  // namespace

TEST_CASE("rank i is on the i-th slot along the curve, and shared slots are filled in the same order") {
    const Machine machine = make_machine("torus:8x8x8");
    const Allocation allocation = fragmented_allocation(machine, 100, 4, 2);
    const std::vector<GridAxis> axes{{100, true}};
    const CommGraph ring = stencil(axes, StencilShape::star, Bytes{1});
    const std::vector<GridAxis> more{{300, true}};
    const CommGraph long_ring = stencil(more, StencilShape::star, Bytes{1});
    for (std::size_t c = 0; c < curves.size(); ++c) {
        const auto order = sort_along_curve(static_cast<Curve>(c), allocation);
        const Placement alone = place(Problem(ring, allocation), curves[c]).placement;
        const Placement shared =
            place(Problem(long_ring, allocation, 1, 1, {.imbalance = 0}), curves[c]).placement;
        for (std::uint32_t i = 0; i < 100; ++i) {
            const Slot slot = allocation.slots()[order[i]];
            CHECK(alone[Rank{i}] == slot);
            for (std::uint32_t k = 0; k < 3; ++k) CHECK(shared[Rank{3 * i + k}] == slot);
        }
    }
}

TEST_CASE("a grid on a machine of its own shape, both along the same curve, takes one hop per message") {
    const Machine machine = make_machine("torus:9x9");
    const Allocation allocation = Allocation::whole(machine);
    const std::vector<GridAxis> axes(2, {9, true});
    const CommGraph graph = stencil(axes, StencilShape::star, Bytes{1});
    const CommGraph shuffled = renumber_ranks(graph, 5);
    for (const std::string& curve : curves) {
        CAPTURE(curve);
        const Problem given(graph, allocation);
        CHECK(given.value(place(given, curve + "(grid=9x9)").placement.slots()) == graph.total_bytes().value);
        const Problem found(shuffled, allocation);
        CHECK(found.value(place(found, curve + "(ranks=by-curve)").placement.slots()) ==
              graph.total_bytes().value);
    }
}

TEST_CASE("ranks along a curve cost less than row-major ranks, in parts of a machine and on shared slots") {
    const Machine machine = make_machine("torus:16x16x16");
    const Allocation allocation = fragmented_allocation(machine, 512, 4, 1);
    const std::vector<GridAxis> cube(3, {8, false});
    const std::vector<GridAxis> fine(3, {16, false});
    const CommGraph one = stencil(cube, StencilShape::star, Bytes{1});
    const CommGraph many = stencil(fine, StencilShape::star, Bytes{1});
    for (const Problem& problem :
         {Problem(one, allocation), Problem(many, allocation, 1, 1, {.imbalance = 0})}) {
        const auto value = [&](const std::string& mapper) {
            return problem.value(place(problem, mapper).placement.slots());
        };
        for (const std::string curve : {"hilbert", "morton"})
            CHECK(10 * value(curve + "(ranks=by-curve)") < 9 * value(curve));
    }
}
