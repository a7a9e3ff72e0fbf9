// SPDX-License-Identifier: BSD-3-Clause
// Proves a schedule by playing it: every block travels, and in the end every rank has what the collective promises.
#pragma once

#include <algorithm>
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

/// Who has which blocks. Memory: a word for every rank and block, or where ranks add to blocks, a bit for each of them.
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
        return (rank.value * collective_.block_count() + block) * whole_.size();
    }
    [[nodiscard]] std::span<const std::uint64_t> shares(Rank rank, std::uint64_t block) const {
        return {shares_.data() + at(rank, block), whole_.size()};
    }
    [[nodiscard]] bool has_any(Rank rank, std::uint64_t block) const;
    [[nodiscard]] bool has_all(Rank rank, std::uint64_t block) const {
        return std::ranges::equal(shares(rank, block), whole_);
    }
    void take(std::uint64_t round, Transfer transfer, const PlayedMessage& message, std::uint64_t block,
              std::span<const std::uint64_t> with);
    [[noreturn]] void fault(std::uint64_t round, const PlayedMessage& message, std::uint64_t block,
                            const char* what) const;

    Collective collective_;
    std::vector<std::uint64_t> whole_;   // a block: whose shares there are, bit by bit; one where nobody adds
    std::vector<std::uint64_t> shares_;  // by rank and block
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
