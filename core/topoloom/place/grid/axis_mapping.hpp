// SPDX-License-Identifier: BSD-3-Clause
// Maps each axis of a grid to axes of a torus or mesh, and parses such mappings from texts like x+zy.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "topoloom/base/extents.hpp"

namespace topoloom::grid {

/// For each axis of the grid, the axes of the machine to which it is mapped, slowest first. In {{0}, {2, 1}},
/// the second axis is mapped to z and y: it runs along y inside each plane of z.
using AxisMapping = std::vector<std::vector<std::uint32_t>>;

/// Parses a text such as x+zy. Throws Error unless the text names every axis of the machine once and contains
/// one part per axis of the grid.
[[nodiscard]] AxisMapping parse_axis_mapping(std::string_view text, std::size_t grid_axes,
                                             std::size_t machine_axes);

/// Number of routers along every axis of the grid, for a machine with these extents.
[[nodiscard]] Extents mapped_extents(const AxisMapping& mapping, const Extents& machine);

}  // namespace topoloom::grid
