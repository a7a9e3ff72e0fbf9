// SPDX-License-Identifier: BSD-3-Clause
// Lists the messages of a round while several calls of one schedule run concurrently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/machine/machine.hpp"
#include "topoloom/schedule/cost/messages.hpp"

namespace topoloom {

/// Every call has the same number of consecutive ranks. Ranks are numbered across all calls.
struct ConcurrentCalls {
    std::span<const Node> node;  // node of each rank, call after call
    std::size_t ranks;           // of a call

    [[nodiscard]] Rank rank_in_call(Rank rank) const { return Rank{rank.value % ranks}; }
    /// Like the functions in messages.hpp, but for all calls.
    void list_senders(const AnySchedule& schedule, std::uint64_t round, std::vector<Rank>& senders) const {
        topoloom::list_senders(schedule, round, senders);
        const std::size_t of_call = senders.size();
        for (std::size_t first = ranks; first < node.size(); first += ranks)
            for (std::size_t i = 0; i < of_call; ++i) senders.push_back(Rank{senders[i].value + first});
    }
    void list_messages(const AnySchedule& schedule, std::uint64_t round, Rank from,
                       std::vector<SentMessage>& messages) const {
        topoloom::list_messages(schedule, round, rank_in_call(from), messages);
        const std::size_t first = from.value - rank_in_call(from).value;
        for (SentMessage& message : messages) message = {from, Rank{message.to.value + first}, message.bytes};
    }
};

}  // namespace topoloom
