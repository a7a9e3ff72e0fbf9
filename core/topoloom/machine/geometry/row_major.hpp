// SPDX-License-Identifier: BSD-3-Clause
// Conversion between coordinates and row-major router numbers: the last axis varies fastest.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace topoloom {

[[nodiscard]] inline std::vector<std::uint32_t> row_major_coordinates(std::uint32_t router,
                                                                      std::span<const std::uint32_t> size) {
    std::vector<std::uint32_t> at(size.size());
    for (std::size_t axis = size.size(); axis-- > 0;) {
        at[axis] = router % size[axis];
        router /= size[axis];
    }
    return at;
}

}  // namespace topoloom
