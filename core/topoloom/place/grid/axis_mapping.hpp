// SPDX-License-Identifier: BSD-3-Clause
// Maps each axis of a grid to axes of a torus or mesh; option syntax x+zy.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "topoloom/base/extents.hpp"

namespace topoloom::grid {

/// Axes of the machine for every axis of the grid, the slowest first: {{0}, {2, 1}} lays the second axis along planes of
/// z, and inside each plane along y.
using AxisMapping = std::vector<std::vector<std::uint32_t>>;

/// From a text such as x+zy. Throws Error unless it names every axis of the machine once and has a part for every axis
/// of the grid.
[[nodiscard]] AxisMapping parse_axis_mapping(std::string_view text, std::size_t grid_axes,
                                             std::size_t machine_axes);

/// Routers along every axis of the grid.
[[nodiscard]] Extents mapped_extents(const AxisMapping& laid, const Extents& machine);

}  // namespace topoloom::grid
