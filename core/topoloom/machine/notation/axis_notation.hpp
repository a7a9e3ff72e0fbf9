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

/// Bandwidths and latencies of the + links and the - links of each axis.
struct AxisQuantities {
    std::vector<std::array<BytesPerSecond, 2>> bandwidth;
    std::vector<std::array<Seconds, 2>> latency;
};

/// Reads an axis by its letter, x, y, z, a, b ..., or its number.
[[nodiscard]] std::uint32_t read_axis(const TextPiece& name, std::size_t axes);

/// Reads the options bandwidth, bandwidth.AXIS, bandwidth.AXIS+ and bandwidth.AXIS-, and the same options of
/// latency.
[[nodiscard]] AxisQuantities read_axis_quantities(const Section& section, std::size_t axes);

}  // namespace topoloom
