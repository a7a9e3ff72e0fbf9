// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/schedule/cost/messages.hpp"

#include <span>

namespace topoloom {

void list_messages(const AnySchedule& schedule, std::uint64_t round, std::vector<SentMessage>& messages) {
    messages.clear();
    schedule.messages(round, round + 1, [&](std::span<const SentMessage> batch) {
        messages.insert(messages.end(), batch.begin(), batch.end());
    });
}

void list_senders(const AnySchedule& schedule, std::uint64_t round, std::vector<Rank>& senders) {
    senders.clear();
    each_sender(schedule, round, [&](Rank from) { senders.push_back(from); });
}

void list_messages(const AnySchedule& schedule, std::uint64_t round, Rank from,
                   std::vector<SentMessage>& messages) {
    messages.clear();
    schedule.sends(from, round, [&](Rank to, Bytes bytes) { messages.push_back({from, to, bytes}); });
}

}  // namespace topoloom
