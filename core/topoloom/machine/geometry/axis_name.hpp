// SPDX-License-Identifier: BSD-3-Clause
// Names of axes: x, y, z, a, b ..., then numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace topoloom {

inline constexpr std::string_view axis_letters = "xyzabcdefghijklmnopqrstuvw";

[[nodiscard]] inline std::string axis_name(std::uint32_t axis) {
    return axis < axis_letters.size() ? std::string(1, axis_letters[axis]) : "axis" + std::to_string(axis);
}

}  // namespace topoloom
