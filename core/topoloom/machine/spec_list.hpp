// SPDX-License-Identifier: BSD-3-Clause
// Lists of a topology's description that may be left out: one entry per axis or level.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "topoloom/base/error.hpp"

namespace topoloom {

/// Fills an empty list with `count` standard values. Throws Error, such as "a torus of 2 axes needs 2 entries of wrap,
/// not 1", if it has another length.
template <class T>
void complete_list(std::vector<T>& values, std::size_t count, const T& standard, std::string_view what,
                   std::string_view topology, std::string_view parts) {
    if (values.empty()) values.assign(count, standard);
    if (values.size() == count) return;
    fail("a ", topology, " of ", count, " ", parts, " needs ", count, " entries of ", what, ", not ",
         values.size());
}

}  // namespace topoloom
