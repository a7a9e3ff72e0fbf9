// SPDX-License-Identifier: BSD-3-Clause
// Which axes of a torus or mesh each axis of a grid is laid along, as an option says it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "topoloom/base/extents.hpp"

namespace topoloom::grid {

/// Axes of the machine for every axis of the grid, the slowest first: {{0}, {2, 1}} lays the second axis along planes of
/// z, and inside each plane along y.
using LaidAxes = std::vector<std::vector<std::uint32_t>>;

/// From a text such as x+zy. Throws Error unless it names every axis of the machine once and has a part for every axis
/// of the grid.
[[nodiscard]] LaidAxes read_laid_axes(std::string_view text, std::size_t grid_axes, std::size_t machine_axes);

/// Routers along every axis of the grid.
[[nodiscard]] Extents laid_extents(const LaidAxes& laid, const Extents& machine);

}  // namespace topoloom::grid
