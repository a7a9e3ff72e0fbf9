// SPDX-License-Identifier: BSD-3-Clause
// The messages of any schedule: of a round, and all of them as communication graphs.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/pattern/comm_graph.hpp"
#include "topoloom/schedule/collectives/schedules.hpp"

namespace topoloom {

struct SentMessage {
    Rank from, to;
    Bytes bytes;
};

/// The messages of one round, those of every sender together. Ends what was in the list.
void list_messages(const AnySchedule& schedule, std::uint64_t round, std::vector<SentMessage>& messages);

/// Those who send in a round, and maybe some who do not. Ends what was in the list, as the next one does.
void list_senders(const AnySchedule& schedule, std::uint64_t round, std::vector<Rank>& senders);
/// The messages of one of them: memory for a rank's, where all of a round would be too many.
void list_messages(const AnySchedule& schedule, std::uint64_t round, Rank from,
                   std::vector<SentMessage>& messages);

/// Bytes that a rank copies to put together what it sends in a round.
[[nodiscard]] Bytes copied(const AnySchedule& schedule, Rank rank, std::uint64_t round);

/// All messages as one graph. O(messages), memory for those of different pairs. Throws Error for more than 2^31 of these.
[[nodiscard]] CommGraph pattern(const AnySchedule& schedule, int threads = 0);

/// One round as a graph: a phase.
[[nodiscard]] CommGraph phase(const AnySchedule& schedule, std::uint64_t round, int threads = 0);

}  // namespace topoloom
