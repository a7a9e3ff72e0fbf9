// SPDX-License-Identifier: BSD-3-Clause
// Makes a machine from a list of links, and its machine text.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// Links as arrays. Bandwidths, in bytes per second, and latencies, in seconds, are one per link, or one for all.
struct ListedLinks {
    std::span<const std::uint32_t> ends;  ///< from, to, from, to, ...
    std::span<const double> bandwidth;
    std::span<const double> latency;
    bool directed = false;  ///< if not, each link leads both ways
};

/// Vertices 0 .. nodes-1 are nodes, by default all, and the others switches. Routes are as in ExplicitGraphSpec. Throws Error
/// as ExplicitGraph does, for lists of different lengths, and for latencies below 0.
[[nodiscard]] Machine make_graph_machine(const ListedLinks& links, std::optional<std::uint32_t> nodes = {},
                                         std::vector<std::vector<std::uint32_t>> routes = {});

/// The text that reads back into exactly this graph; links ascend.
[[nodiscard]] std::string graph_text_of(const ExplicitGraphSpec& spec);

}  // namespace topoloom
