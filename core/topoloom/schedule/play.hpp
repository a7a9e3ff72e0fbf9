// SPDX-License-Identifier: BSD-3-Clause
// Proves a schedule by playing it: every block travels, and in the end every rank has what the collective promises.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

struct PlayedMessage {
    Rank from, to;
    Bytes bytes;
    std::vector<std::uint64_t> blocks;
};

/// Who has which blocks. Memory: one bit for every rank and block, and for every rank again where ranks add to a block.
class Play {
   public:
    explicit Play(const Collective& collective);

    /// Throws Error for a message that carries what its sender has not, or what its receiver has already, or other bytes
    /// than those of its blocks.
    void play(std::uint64_t round, Transfer transfer, std::span<const PlayedMessage> messages);
    /// Throws Error if a rank has less than is promised, or, where it may not, anything else.
    void finish() const;

   private:
    /// Where the shares of a block on a rank begin.
    [[nodiscard]] std::size_t at(Rank rank, std::uint64_t block) const {
        return (rank.value * collective_.block_count() + block) * width_;
    }
    [[nodiscard]] bool has_any(Rank rank, std::uint64_t block) const;
    [[nodiscard]] bool has_all(Rank rank, std::uint64_t block) const;
    void take(std::uint64_t round, Transfer transfer, const PlayedMessage& message, std::uint64_t block,
              std::span<const char> with);
    [[noreturn]] void fault(std::uint64_t round, const PlayedMessage& message, std::uint64_t block,
                            const char* what) const;

    Collective collective_;
    std::size_t width_;         // of whom a rank may have the share of a block; 1 where nobody adds
    std::vector<bool> shares_;  // by rank, block and whose it is
};

/// Throws Error that names round, ranks and block unless the schedule does exactly what its collective promises, and its
/// senders and receivers agree. O(rounds * ranks + blocks that travel), memory as Play.
template <Schedule S>
void check_schedule(const S& schedule) {
    const Collective& collective = schedule.collective();
    Play play(collective);
    for (std::uint64_t round = 0; round < schedule.rounds(); ++round) {
        std::vector<PlayedMessage> messages;
        std::map<std::pair<Rank, Rank>, Bytes> sent;
        for (const Rank from : ids<Rank>(collective.ranks())) {
            schedule.sends(from, round, [&](Rank to, Bytes bytes) {
                if (to == from || to.value >= collective.ranks() ||
                    !sent.emplace(std::pair(from, to), bytes).second)
                    fail("round ", round, ": rank ", from.value, " sends to ", to.value,
                         ", which is itself, no rank, or has a message from it already");
                messages.push_back({from, to, bytes, {}});
                schedule.blocks(from, to, round,
                                [&](std::uint64_t block) { messages.back().blocks.push_back(block); });
            });
        }
        for (const Rank to : ids<Rank>(collective.ranks())) {
            schedule.receives(to, round, [&](Rank from, Bytes bytes) {
                const auto found = sent.find({from, to});
                if (found == sent.end() || found->second != bytes)
                    fail("round ", round, ": rank ", to.value, " waits for ", bytes.value,
                         " bytes that rank ", from.value, " does not send");
                sent.erase(found);
            });
        }
        if (!sent.empty()) {
            const auto [from, to] = sent.begin()->first;
            fail("round ", round, ": rank ", to.value, " does not wait for the message of rank ", from.value);
        }
        play.play(round, schedule.transfer(round), messages);
    }
    play.finish();
}

}  // namespace topoloom
