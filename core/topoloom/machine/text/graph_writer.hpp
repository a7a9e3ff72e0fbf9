// SPDX-License-Identifier: BSD-3-Clause
// Makes a machine from a list of links, and writes its machine text.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// Links as arrays. Bandwidths (bytes per second) and latencies (seconds) have one value per link, or one for
/// all.
struct LinkArrays {
    std::span<const std::uint32_t> ends;  ///< from and to of each link in turn
    std::span<const double> bandwidth;
    std::span<const double> latency;
    bool directed = false;  ///< if false, each link has both directions
};

/// Makes a machine from the links. Vertices 0 .. nodes-1 are nodes (by default all vertices), the others
/// switches. Routes are as in ExplicitGraphSpec. Throws the same errors as ExplicitGraph, and Error for lists
/// of different lengths and for negative latencies.
[[nodiscard]] Machine make_graph_machine(const LinkArrays& links, std::optional<std::uint32_t> nodes = {},
                                         std::vector<std::vector<std::uint32_t>> routes = {});

/// Returns the text that reads back as exactly this graph. Links are in ascending order.
[[nodiscard]] std::string format_graph_text(const ExplicitGraphSpec& spec);

}  // namespace topoloom
