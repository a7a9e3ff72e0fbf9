// SPDX-License-Identifier: BSD-3-Clause
// Verifies a schedule by tracing its blocks: after the last round every rank has the blocks that the
// collective promises.
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

/// Tracks which rank has which blocks. Memory: 8 bytes per rank and block; for reductions, one bit per rank,
/// block and contributing rank.
class ScheduleVerifier {
   public:
    explicit ScheduleVerifier(const Collective& collective);

    /// Throws Error if the sender does not have a block of a message, if the receiver already has it, or if
    /// the bytes of a message differ from those of its blocks.
    void verify_round(std::uint64_t round, Transfer transfer, std::span<const TracedMessage> messages);
    /// Throws Error if a rank lacks a promised block or has a block that the collective does not allow.
    void finish() const;

   private:
    /// Index in shares_ at which the contributions to a block that a rank has begin.
    [[nodiscard]] std::size_t at(Rank rank, std::uint64_t block) const {
        return (rank.value * collective_.block_count() + block) * whole_.size();
    }
    [[nodiscard]] std::span<const std::uint64_t> shares(Rank rank, std::uint64_t block) const {
        return {shares_.data() + at(rank, block), whole_.size()};
    }
    [[nodiscard]] bool has_any_share(Rank rank, std::uint64_t block) const;
    [[nodiscard]] bool has_all_shares(Rank rank, std::uint64_t block) const;
    void apply_block(std::uint64_t round, Transfer transfer, const TracedMessage& message,
                     std::uint64_t block, std::span<const std::uint64_t> with);
    [[noreturn]] void fail_message(std::uint64_t round, const TracedMessage& message, std::uint64_t block,
                                   const char* what) const;

    Collective collective_;
    /// The contributions of a complete block: one bit per contributing rank, or a single bit without a
    /// reduction.
    std::vector<std::uint64_t> whole_;
    std::vector<std::uint64_t> shares_;  // by rank, then block, then 64-bit word
};

/// Sender, receiver and size of a message.
struct MessageKey {
    Rank from, to;
    Bytes bytes;

    friend auto operator<=>(const MessageKey&, const MessageKey&) = default;
};

/// Throws Error unless senders and receivers list the same messages, with at most one message per pair of
/// ranks.
void check_agreement(std::uint64_t round, std::vector<MessageKey> sent, std::vector<MessageKey> received);

/// Throws Error unless the schedule implements its collective, and its senders and receivers list the same
/// messages. The error names the round, the ranks and the block. O(rounds * ranks + messages log messages +
/// transferred blocks); memory as in ScheduleVerifier.
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
                         ", which is the sender or not a rank");
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
