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

Bytes copied(const AnySchedule& schedule, Rank rank, std::uint64_t round) {
    return with_schedule(schedule, [&](const auto& s) {
        if constexpr (requires { s.copied(rank, round); }) return s.copied(rank, round);
        return Bytes{0};
    });
}

CommGraph pattern(const AnySchedule& schedule, int threads) {
    return with_schedule(schedule, [&](const auto& s) {
        const auto emit = [&](Rank from, const auto& add) {
            for (std::uint64_t round = 0; round < s.rounds(); ++round)
                s.sends(from, round, [&](Rank to, Bytes bytes) { add(Edge{to, bytes}); });
        };
        return CommGraph::from_rows(s.collective().ranks(), emit, {}, threads);
    });
}

CommGraph phase(const AnySchedule& schedule, std::uint64_t round, int threads) {
    return with_schedule(schedule, [&](const auto& s) {
        const auto emit = [&](Rank from, const auto& add) {
            s.sends(from, round, [&](Rank to, Bytes bytes) { add(Edge{to, bytes}); });
        };
        return CommGraph::from_rows(s.collective().ranks(), emit, {}, threads);
    });
}

}  // namespace topoloom
