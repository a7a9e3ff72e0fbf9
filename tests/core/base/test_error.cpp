// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include "topoloom/base/error.hpp"

using namespace topoloom;

TEST_CASE("an error message concatenates its parts after an optional line number") {
    CHECK_THROWS_WITH_AS(fail("rank ", 7, " of ", 2), "rank 7 of 2", Error);
    CHECK_THROWS_WITH_AS(fail_at_line(12, "too ", "long"), "line 12: too long", Error);
}

TEST_CASE("an unknown name lists the known names and suggests the nearest one") {
    const std::vector<std::string> known{"block", "random", "hilbert", "mahd"};
    CHECK(unknown_name_message("mapper", "hillbert", known) ==
          "no mapper 'hillbert' (did you mean 'hilbert'?); there are: block, random, hilbert, mahd");
    CHECK(unknown_name_message("mapper", "madh", known) ==
          "no mapper 'madh' (did you mean 'mahd'?); there are: block, random, hilbert, mahd");
    CHECK(unknown_name_message("mapper", "zzzzzzzz", known) ==
          "no mapper 'zzzzzzzz'; there are: block, random, hilbert, mahd");
    CHECK(unknown_name_message("machine", "anything", {}) == "no machine 'anything'");
}
