// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/schedule/cost/messages.hpp"

#include "topoloom/base/error.hpp"

namespace topoloom {

void list_messages(const AnySchedule& schedule, std::uint64_t round, std::vector<SentMessage>& messages) {
    messages.clear();
    with_schedule(schedule, [&](const auto& s) {
        each_sender(s, round, [&](Rank from) {
            s.sends(from, round, [&](Rank to, Bytes bytes) { messages.push_back({from, to, bytes}); });
        });
    });
}

void list_senders(const AnySchedule& schedule, std::uint64_t round, std::vector<Rank>& senders) {
    senders.clear();
    with_schedule(schedule,
                  [&](const auto& s) { each_sender(s, round, [&](Rank from) { senders.push_back(from); }); });
}

void list_messages(const AnySchedule& schedule, std::uint64_t round, Rank from,
                   std::vector<SentMessage>& messages) {
    messages.clear();
    with_schedule(schedule, [&](const auto& s) {
        s.sends(from, round, [&](Rank to, Bytes bytes) { messages.push_back({from, to, bytes}); });
    });
}

Copies copied(const AnySchedule& schedule, Rank rank, std::uint64_t round) {
    return with_schedule(schedule, [&](const auto& s) { return copied(s, rank, round); });
}

std::optional<Bytes> staged(const AnySchedule& schedule, Rank rank, std::uint64_t round) {
    return with_schedule(schedule, [&](const auto& s) { return staged(s, rank, round); });
}

}  // namespace topoloom
