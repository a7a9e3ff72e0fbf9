// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/grid/axis_mapping.hpp"

#include "topoloom/base/error.hpp"
#include "topoloom/machine/geometry/axis_name.hpp"

namespace topoloom::grid {

AxisMapping parse_axis_mapping(std::string_view text, std::size_t grid_axes, std::size_t machine_axes) {
    AxisMapping laid(1);
    std::vector<bool> named(machine_axes, false);
    for (const char letter : text) {
        if (letter == '+') {
            laid.emplace_back();
            continue;
        }
        const std::size_t axis = axis_letters.find(letter);
        if (axis >= machine_axes)
            fail("fold: onto=", text, " names the axis '", letter, "'; the machine has ",
                 axis_letters.substr(0, machine_axes));
        if (named[axis]) fail("fold: onto=", text, " names the axis ", letter, " twice; once is enough");
        named[axis] = true;
        laid.back().push_back(static_cast<std::uint32_t>(axis));
    }
    for (std::uint32_t axis = 0; axis < machine_axes; ++axis) {
        if (!named[axis])
            fail("fold: onto=", text, " leaves out the axis ", axis_name(axis), " of the machine");
    }
    if (laid.size() != grid_axes)
        fail("fold: onto=", text, " is for a grid of ", laid.size(), laid.size() == 1 ? " axis" : " axes",
             ", and the ranks' grid has ", grid_axes, "; give a part for each, joined by '+'");
    return laid;
}

Extents mapped_extents(const AxisMapping& laid, const Extents& machine) {
    Extents extents;
    for (const std::vector<std::uint32_t>& axes : laid) {
        extents.push_back(1);
        for (const std::uint32_t axis : axes) extents.back() *= machine[axis];
    }
    return extents;
}

}  // namespace topoloom::grid
