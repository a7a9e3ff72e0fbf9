// SPDX-License-Identifier: BSD-3-Clause
// Programs with explicit message lists: phases of a pattern, or recordings.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/network/programs/program.hpp"

namespace topoloom {

/// A message that a rank sends in a step.
struct StoredMessage {
    Rank from, to;
    std::uint64_t step;
    Bytes bytes;
};

/// A program with a message list. Within a step, a rank sends in list order.
class StoredProgram final : public Program {
   public:
    /// Throws Error for ranks out of range and negative sizes.
    StoredProgram(std::size_t ranks, std::span<const StoredMessage> messages);

    [[nodiscard]] std::size_t rank_count() const override { return sends_.first.size() - 1; }
    [[nodiscard]] std::uint64_t step_count() const override { return steps_; }
    void list_sends(Rank rank, std::uint64_t step, std::vector<ProgramMessage>& messages) const override {
        sends_.list(rank, step, messages);
    }
    void list_receives(Rank rank, std::uint64_t step, std::vector<ProgramMessage>& messages) const override {
        receives_.list(rank, step, messages);
    }

   private:
    struct Entry {
        std::uint64_t step;
        ProgramMessage message;
    };
    /// The messages of one direction, sorted by rank, then by step.
    struct DirectedMessages {
        std::vector<std::uint64_t> first;  // [rank]
        std::vector<Entry> entries;

        void list(Rank rank, std::uint64_t step, std::vector<ProgramMessage>& messages) const;
    };
    template <class Own, class Peer>
    static DirectedMessages sort_messages(std::size_t ranks, std::span<const StoredMessage> messages, Own own,
                                          Peer peer);

    std::uint64_t steps_ = 0;
    DirectedMessages sends_, receives_;
};

}  // namespace topoloom
