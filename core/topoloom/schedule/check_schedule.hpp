// SPDX-License-Identifier: BSD-3-Clause
// Verifies a schedule by tracing its blocks: in the end every rank has what the collective promises.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

struct TracedMessage {
    Rank from, to;
    Bytes bytes;
    std::vector<std::uint64_t> blocks;
};

/// Tracks which rank has which blocks. Memory: a word for every rank and block, or where ranks add to blocks, a bit for each of them.
class ScheduleVerifier {
   public:
    explicit ScheduleVerifier(const Collective& collective);

    /// Throws Error for a message that carries what its sender has not, or what its receiver has already, or other bytes
    /// than those of its blocks.
    void verify_round(std::uint64_t round, Transfer transfer, std::span<const TracedMessage> messages);
    /// Throws Error if a rank has less than is promised, or if it has anything else that is not allowed.
    void finish() const;

   private:
    /// Offset of the contributions to a block on a rank.
    [[nodiscard]] std::size_t at(Rank rank, std::uint64_t block) const {
        return (rank.value * collective_.block_count() + block) * whole_.size();
    }
    [[nodiscard]] std::span<const std::uint64_t> shares(Rank rank, std::uint64_t block) const {
        return {shares_.data() + at(rank, block), whole_.size()};
    }
    [[nodiscard]] bool has_any(Rank rank, std::uint64_t block) const;
    [[nodiscard]] bool has_all(Rank rank, std::uint64_t block) const;
    void apply_block(std::uint64_t round, Transfer transfer, const TracedMessage& message,
                     std::uint64_t block, std::span<const std::uint64_t> with);
    [[noreturn]] void fail_message(std::uint64_t round, const TracedMessage& message, std::uint64_t block,
                                   const char* what) const;

    Collective collective_;
    std::vector<std::uint64_t> whole_;   // a block: whose shares there are, bit by bit; one if no rank adds
    std::vector<std::uint64_t> shares_;  // by rank and block
};

/// Ends and size of a message.
struct MessageKey {
    Rank from, to;
    Bytes bytes;

    friend auto operator<=>(const MessageKey&, const MessageKey&) = default;
};

/// Throws Error unless senders and receivers see the same messages, one at most from a rank to another.
void check_agreement(std::uint64_t round, std::vector<MessageKey> sent, std::vector<MessageKey> received);

/// Throws Error that names round, ranks and block unless the schedule does exactly what its collective promises, and its
/// senders and receivers agree. O(rounds * ranks + messages log messages + blocks that travel), memory as ScheduleVerifier.
template <Schedule S>
void check_schedule(const S& schedule) {
    const Collective& collective = schedule.collective();
    ScheduleVerifier verifier(collective);
    for (std::uint64_t round = 0; round < schedule.rounds(); ++round) {
        std::vector<TracedMessage> messages;
        std::vector<MessageKey> sent, received;
        for (const Rank rank : ids<Rank>(collective.ranks())) {
            schedule.sends(rank, round, [&](Rank to, Bytes bytes) {
                if (to == rank || to.value >= collective.ranks())
                    fail("round ", round, ": rank ", rank.value, " sends to ", to.value,
                         ", which is itself or not a rank");
                sent.push_back({rank, to, bytes});
                messages.push_back({rank, to, bytes, {}});
                schedule.blocks(rank, to, round,
                                [&](std::uint64_t block) { messages.back().blocks.push_back(block); });
            });
            schedule.receives(rank, round,
                              [&](Rank from, Bytes bytes) { received.push_back({from, rank, bytes}); });
        }
        check_agreement(round, std::move(sent), std::move(received));
        verifier.verify_round(round, schedule.transfer(round), messages);
    }
    verifier.finish();
}

}  // namespace topoloom
