// SPDX-License-Identifier: BSD-3-Clause
// Bandwidths and latencies by axis, such as bandwidth.y=half or latency.x-=2us.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "topoloom/base/unit.hpp"
#include "topoloom/machine/notation/text_piece.hpp"

namespace topoloom {

/// One entry per axis: of its + and its - links.
struct AxisQuantities {
    std::vector<std::array<BytesPerSecond, 2>> bandwidth;
    std::vector<std::array<Seconds, 2>> latency;
};

/// An axis by its letter, x, y, z, a, b ..., or its number.
[[nodiscard]] std::uint32_t read_axis(const Piece& name, std::size_t axes);

/// All options bandwidth, bandwidth.AXIS, bandwidth.AXIS+ and -, and the same of latency.
[[nodiscard]] AxisQuantities read_axis_quantities(const Section& section, std::size_t axes);

}  // namespace topoloom
