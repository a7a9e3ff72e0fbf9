// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include <algorithm>
#include <cstdlib>

#include "topoloom/base/error.hpp"
#include "topoloom/pattern/generators/molecular_dynamics.hpp"

using namespace topoloom;

namespace {

using Cells = std::array<std::uint32_t, 3>;

/// Reference: whether two cells touch, also across periodic boundaries.
bool are_touching(std::uint32_t a, std::uint32_t b, const Cells& cells) {
    for (std::size_t axis = 3; axis-- > 0;) {
        const int extent = static_cast<int>(cells[axis]);
        const int apart = std::abs(static_cast<int>(a) % extent - static_cast<int>(b) % extent);
        if (std::min(apart, extent - apart) > 1) return false;
        a /= cells[axis];
        b /= cells[axis];
    }
    return true;
}

}  // namespace

TEST_CASE("every patch and every pair of touching patches has one compute, in order") {
    for (const Cells cells :
         {Cells{4, 5, 3}, Cells{2, 1, 6}, Cells{1, 1, 1}, Cells{2, 2, 2}, Cells{7, 7, 5}}) {
        const std::uint32_t patches = cells[0] * cells[1] * cells[2];
        const CommGraph graph = molecular_dynamics(cells, 10'000, 3);
        Rank compute{patches};
        for (std::uint32_t a = 0; a < patches; ++a) {
            for (std::uint32_t b = a; b < patches; ++b) {
                if (!are_touching(a, b, cells)) continue;
                const auto peers = graph.peers(compute);
                REQUIRE(peers.size() == (a == b ? 1 : 2));
                CHECK(peers.front() == Rank{a});
                CHECK(peers.back() == Rank{b});
                compute = Rank{compute.value + 1};
            }
        }
        CHECK(graph.rank_count() == compute.value);
    }
}

TEST_CASE("bytes are proportional to the atoms of a patch, and the load of a compute to its pairs of atoms") {
    const CommGraph graph = molecular_dynamics({4, 4, 4}, 92'224, 1);
    double atoms = 0;
    double pairs = 0;
    for (const Rank u : ids<Rank>(graph.rank_count())) {
        if (u.value < 64) {
            atoms += graph.load(u);
            for (const Edge edge : graph.sends(u))
                CHECK(static_cast<double>(edge.bytes.value) == 24 * graph.load(u));
            continue;
        }
        double product = 1;
        for (const Edge edge : graph.sends(u)) {
            product *= graph.load(edge.peer);
            CHECK(static_cast<double>(edge.bytes.value) == 24 * graph.load(edge.peer));
        }
        CHECK(graph.load(u) == (graph.degree(u) == 1 ? product * (product - 1) / 2 : product));
        pairs += graph.load(u);
    }
    CHECK(atoms == 92'224);
    // Each patch interacts with 27 patches including itself, and each pair counts once. The numbers of atoms
    // vary a little.
    CHECK(pairs == doctest::Approx(92'224.0 * 92'224 / 64 * 27 / 2).epsilon(0.01));
}

TEST_CASE("equal seeds give equal atoms, different seeds different ones") {
    const auto bytes = [](std::uint64_t seed) {
        const CommGraph graph = molecular_dynamics({3, 3, 3}, 5000, seed);
        return std::vector<Bytes>(graph.all_bytes().begin(), graph.all_bytes().end());
    };
    CHECK(bytes(1) == bytes(1));
    CHECK(bytes(1) != bytes(2));
}

TEST_CASE("a box is cut into cells of sufficient width") {
    CHECK(molecular_cells(apoa1) == Cells{6, 6, 4});
    CHECK(molecular_cells(apoa1, 15) == Cells{7, 7, 5});
    CHECK(molecular_cells(apoa1, 1000) == Cells{1, 1, 1});
    CHECK_THROWS_WITH_AS((void)molecular_cells(apoa1, 0), "cells cannot be 0 angstrom wide; give 1 or more",
                         Error);
}

TEST_CASE("cells without extent, or too many cells, are refused") {
    CHECK_THROWS_WITH_AS((void)molecular_dynamics({4, 0, 4}, 10, 1),
                         "cells of 4x0x4 have an axis of 0 cells; give at least 1 per axis", Error);
    CHECK_THROWS_AS((void)molecular_dynamics({100'000, 100'000, 1}, 10, 1), Error);
}
