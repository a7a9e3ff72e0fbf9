// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/grid/axis_mapping.hpp"

#include "topoloom/base/error.hpp"
#include "topoloom/machine/geometry/axis_name.hpp"

namespace topoloom::grid {

AxisMapping parse_axis_mapping(std::string_view text, std::size_t grid_axes, std::size_t machine_axes) {
    AxisMapping mapping(1);
    std::vector<bool> is_named(machine_axes, false);
    for (const char letter : text) {
        if (letter == '+') {
            mapping.emplace_back();
            continue;
        }
        const std::size_t axis = axis_letters.find(letter);
        if (axis >= machine_axes)
            fail("fold: onto=", text, " names the axis '", letter, "'; the machine has ",
                 axis_letters.substr(0, machine_axes));
        if (is_named[axis]) fail("fold: onto=", text, " names the axis ", letter, " twice; once is enough");
        is_named[axis] = true;
        mapping.back().push_back(static_cast<std::uint32_t>(axis));
    }
    for (std::uint32_t axis = 0; axis < machine_axes; ++axis) {
        if (!is_named[axis])
            fail("fold: onto=", text, " leaves out the axis ", axis_name(axis), " of the machine");
    }
    if (mapping.size() != grid_axes)
        fail("fold: onto=", text, " is for a grid of ", mapping.size(),
             mapping.size() == 1 ? " axis" : " axes", ", and the ranks' grid has ", grid_axes,
             "; give a part for each, joined by '+'");
    return mapping;
}

Extents mapped_extents(const AxisMapping& mapping, const Extents& machine) {
    Extents extents;
    for (const std::vector<std::uint32_t>& axes : mapping) {
        extents.push_back(1);
        for (const std::uint32_t axis : axes) extents.back() *= machine[axis];
    }
    return extents;
}

}  // namespace topoloom::grid
