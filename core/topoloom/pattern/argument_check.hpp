// SPDX-License-Identifier: BSD-3-Clause
// Argument checks shared by all pattern generators.
#pragma once

#include <cstddef>
#include <string_view>

#include "topoloom/base/error.hpp"
#include "topoloom/base/unit.hpp"

namespace topoloom {

/// Throws Error unless there are 1 to 2^31 - 1 ranks and the bytes are not negative.
inline void check_pattern(std::string_view pattern, std::size_t rank_count, Bytes bytes) {
    if (rank_count == 0) fail("a ", pattern, " of 0 ranks is empty; give at least 1 rank");
    if (rank_count >> 31 != 0)
        fail("a ", pattern, " of ", rank_count, " ranks is too large; give at most 2^31 - 1");
    if (bytes.value < 0)
        fail("the messages of a ", pattern, " cannot have ", bytes.value, " bytes; give 0 or more");
}

}  // namespace topoloom
