// SPDX-License-Identifier: BSD-3-Clause
// The messages of a schedule as communication graphs: of all rounds together, or of one.
#pragma once

#include <cstdint>
#include <optional>

#include "topoloom/pattern/comm_graph.hpp"
#include "topoloom/schedule/any_schedule.hpp"

namespace topoloom {

/// All messages as one graph; with `each`, of this size whatever they carry, which counts messages rather than volume.
/// O(messages), or where rounds repeat themselves O(edges); no memory but the graph. Throws Error for more than 2^31
/// edges.
[[nodiscard]] CommGraph pattern(const AnySchedule& schedule, std::optional<Bytes> each = std::nullopt,
                                int threads = 0);

/// One round as a graph: a phase.
[[nodiscard]] CommGraph phase(const AnySchedule& schedule, std::uint64_t round, int threads = 0);

}  // namespace topoloom
