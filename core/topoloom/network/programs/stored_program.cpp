// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/programs/stored_program.hpp"

#include <algorithm>
#include <numeric>

#include "topoloom/base/error.hpp"

namespace topoloom {

void StoredProgram::DirectedMessages::list(Rank rank, std::uint64_t step,
                                           std::vector<ProgramMessage>& messages) const {
    const std::span own =
        std::span(entries).subspan(first[rank.value], first[rank.value + 1] - first[rank.value]);
    for (const Entry& entry : std::ranges::equal_range(own, step, {}, &Entry::step))
        messages.push_back(entry.message);
}

template <class Own, class Peer>
StoredProgram::DirectedMessages StoredProgram::sort_messages(std::size_t ranks,
                                                             std::span<const StoredMessage> messages, Own own,
                                                             Peer peer) {
    DirectedMessages side;
    side.first.assign(ranks + 1, 0);
    for (const StoredMessage& message : messages) ++side.first[(message.*own).value + 1];
    std::partial_sum(side.first.begin(), side.first.end(), side.first.begin());
    side.entries.resize(messages.size());
    std::vector<std::uint64_t> next(side.first.begin(), side.first.end() - 1);
    for (const StoredMessage& message : messages)
        side.entries[next[(message.*own).value]++] = {message.step, {message.*peer, message.bytes}};
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        const std::span all(side.entries);
        std::ranges::stable_sort(all.subspan(side.first[rank], side.first[rank + 1] - side.first[rank]), {},
                                 &Entry::step);
    }
    return side;
}

StoredProgram::StoredProgram(std::size_t ranks, std::span<const StoredMessage> messages) {
    for (const StoredMessage& message : messages) {
        const std::uint32_t higher = std::max(message.from.value, message.to.value);
        if (higher >= ranks) fail("a message is for rank ", higher, "; ranks are 0 to ", ranks - 1);
        if (message.bytes.value < 0) fail("a message has ", message.bytes.value, " bytes");
        steps_ = std::max(steps_, message.step + 1);
    }
    sends_ = sort_messages(ranks, messages, &StoredMessage::from, &StoredMessage::to);
    receives_ = sort_messages(ranks, messages, &StoredMessage::to, &StoredMessage::from);
}

}  // namespace topoloom
