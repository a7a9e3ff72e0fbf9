// SPDX-License-Identifier: BSD-3-Clause
// Communication graphs of a schedule: of all rounds together, or of one round.
#pragma once

#include <cstdint>
#include <optional>

#include "topoloom/pattern/comm_graph.hpp"
#include "topoloom/schedule/any_schedule.hpp"

namespace topoloom {

/// Converts all messages to one graph. If `each` is given, every message counts as this many bytes; with 1,
/// the graph counts messages. O(messages), or O(edges) if rounds repeat; needs memory only for the graph.
/// Throws Error for more than 2^31 edges.
[[nodiscard]] CommGraph pattern(const AnySchedule& schedule, std::optional<Bytes> each = std::nullopt,
                                int threads = 0);

/// Converts one round, which is a phase, to a graph.
[[nodiscard]] CommGraph phase(const AnySchedule& schedule, std::uint64_t round, int threads = 0);

}  // namespace topoloom
