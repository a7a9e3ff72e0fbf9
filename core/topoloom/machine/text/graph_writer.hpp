// SPDX-License-Identifier: BSD-3-Clause
// A machine from a list of links, and the short text that says the same.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// Links as arrays: bandwidths, in bytes per second, and latencies, in seconds, are one for each link, or one for all.
struct ListedLinks {
    std::span<const std::uint32_t> ends;  ///< from, to, from, to, ...
    std::span<const double> bandwidth;
    std::span<const double> latency;
    bool directed = false;  ///< else each leads both ways
};

/// Vertices 0 .. nodes-1 are nodes, all of them by default, the others switches. Routes as in ExplicitGraphSpec. Throws
/// Error where ExplicitGraph does, for lists that are not equally long, and for latencies below 0.
[[nodiscard]] Machine make_graph_machine(const ListedLinks& links, std::optional<std::uint32_t> nodes = {},
                                         std::vector<std::vector<std::uint32_t>> routes = {});

/// The text that reads back into this graph, to the last bit; its links ascend.
[[nodiscard]] std::string graph_text_of(const ExplicitGraphSpec& spec);

}  // namespace topoloom
