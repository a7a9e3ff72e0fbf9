// SPDX-License-Identifier: BSD-3-Clause
// The messages of a round of any schedule.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/schedule/any_schedule.hpp"

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

}  // namespace topoloom
