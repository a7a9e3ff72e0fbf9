// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include <limits>

#include "topoloom/base/extents.hpp"

using namespace topoloom;

TEST_CASE("the number of cells saturates instead of overflowing") {
    CHECK(cell_count(Extents{}) == 1);
    CHECK(cell_count(Extents{3, 4, 5}) == 60);
    CHECK(cell_count(Extents{3, 0, 4'294'967'295}) == 0);
    const std::uint32_t most = 2'147'483'648;
    CHECK(cell_count(Extents{most, most}) == std::uint64_t{1} << 62);
    CHECK(cell_count(Extents{most, most, 4}) == std::numeric_limits<std::uint64_t>::max());
    CHECK(cell_count(Extents{most, most, 8, 3}) == std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("cells are visited in increasing order of their numbers") {
    const Extents extents{3, 1, 4};
    const Extents strides = row_major_strides(extents);
    CHECK(strides == Extents{4, 4, 1});
    std::uint32_t cell = 0;
    for_each_cell(extents, [&](const Extents& at) {
        CHECK(at[0] * strides[0] + at[1] * strides[1] + at[2] * strides[2] == cell);
        ++cell;
    });
    CHECK(cell == 12);
    for_each_cell(Extents{2, 0}, [](const Extents&) { FAIL("a grid without cells"); });
}
