// SPDX-License-Identifier: BSD-3-Clause
// Lists the messages of a round.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/schedule/any_schedule.hpp"

namespace topoloom {

/// Lists the messages of a round by sender; clears the list first.
void list_messages(const AnySchedule& schedule, std::uint64_t round, std::vector<SentMessage>& messages);

/// Lists a superset of the senders of a round; clears the list first.
void list_senders(const AnySchedule& schedule, std::uint64_t round, std::vector<Rank>& senders);
/// Lists the messages of one sender, for rounds whose full list would need too much memory; clears the list
/// first.
void list_messages(const AnySchedule& schedule, std::uint64_t round, Rank from,
                   std::vector<SentMessage>& messages);

}  // namespace topoloom
