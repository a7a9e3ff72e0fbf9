// SPDX-License-Identifier: BSD-3-Clause
// Orbits of slots compared with all distance-preserving permutations, for distance matrices with any
// diagonal.
#include <doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/qap/exact/slot_symmetry.hpp"

using namespace topoloom;

TEST_CASE("orbits equal those under all permutations that preserve distances") {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        CAPTURE(seed);
        Rng rng(seed);
        const std::size_t n = 2 + rng.below(4);
        std::vector<std::int64_t> distance(n * n);
        for (std::int64_t& d : distance) d = rng.below(2);
        std::vector<Position> fixed;
        for (const Position slot : ids<Position>(n)) {
            if (rng.below(4) == 0) fixed.push_back(slot);
        }
        std::vector<std::size_t> image(n);
        std::iota(image.begin(), image.end(), std::size_t{0});
        std::vector<Position> least = id_list<Position>(n);
        do {
            bool keeps = std::ranges::all_of(fixed, [&](Position s) { return image[s.value] == s.value; });
            for (std::size_t a = 0; a < n && keeps; ++a) {
                for (std::size_t b = 0; b < n; ++b)
                    keeps = keeps && distance[a * n + b] == distance[image[a] * n + image[b]];
            }
            if (!keeps) continue;
            for (std::size_t a = 0; a < n; ++a) least[a] = std::min(least[a], Position{image[a]});
        } while (std::ranges::next_permutation(image).found);
        CHECK(qap::SlotSymmetry(n, distance).orbits(fixed) == least);
    }
}
