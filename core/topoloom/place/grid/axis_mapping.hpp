// SPDX-License-Identifier: BSD-3-Clause
// Maps each axis of a grid to axes of a torus or mesh; option syntax x+zy.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "topoloom/base/extents.hpp"

namespace topoloom::grid {

/// Axes of the machine for every axis of the grid, slowest first. In {{0}, {2, 1}}, the second axis is mapped
/// along planes of z, and along y inside each plane.
using AxisMapping = std::vector<std::vector<std::uint32_t>>;

/// Parses a text such as x+zy. Throws Error unless the text names every axis of the machine once and contains
/// one part per axis of the grid.
[[nodiscard]] AxisMapping parse_axis_mapping(std::string_view text, std::size_t grid_axes,
                                             std::size_t machine_axes);

/// Number of routers along every axis of the grid.
[[nodiscard]] Extents mapped_extents(const AxisMapping& mapping, const Extents& machine);

}  // namespace topoloom::grid
