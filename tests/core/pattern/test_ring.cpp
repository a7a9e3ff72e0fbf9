// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include "topoloom/base/error.hpp"
#include "topoloom/pattern/generators/ring.hpp"

#include "pattern/dense_matrix.hpp"

using namespace topoloom;

namespace {

constexpr std::int64_t block = 8;

}  // namespace

TEST_CASE("each rank of a ring sends to the next, and a single rank sends nothing") {
    for (std::size_t n = 2; n < 6; ++n) {
        Dense expected = empty_matrix(n);
        for (std::size_t u = 0; u < n; ++u) add(expected, u, (u + 1) % n, block);
        CHECK(to_dense_matrix(ring(n, Bytes{block})) == expected);
    }
    CHECK(ring(1, Bytes{block}).edge_count() == 0);
    CHECK(ring(1, Bytes{block}).self_messages(Rank{0}) == 0);
}

TEST_CASE("a ring without ranks, with negative bytes, or too large is refused") {
    for (const std::size_t n : {std::size_t{1} << 31, std::size_t{1} << 60})
        CHECK_THROWS_AS((void)ring(n, Bytes{1}), Error);
    CHECK_THROWS_AS((void)ring(1, Bytes{-1}), Error);
    CHECK_THROWS_WITH_AS((void)ring(0, Bytes{1}), "a ring of 0 ranks is empty; give at least 1 rank", Error);
}
