// SPDX-License-Identifier: BSD-3-Clause
// Builds the program of a rank round by round; tracks the location of every block and allocates scratch
// memory.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "topoloom/execute/block_layout.hpp"
#include "topoloom/execute/rank_program.hpp"
#include "topoloom/execute/scratch.hpp"
#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// Call begin_round(), send() and receive(), and end_round() for each round; at the end, finish().
class ProgramBuilder {
   public:
    /// With `in_rank_order`, contributions of lower ranks are left operands.
    ProgramBuilder(const BlockLayout& layout, bool in_rank_order);

    void begin_round();
    void send(Rank to, std::span<const std::uint64_t> blocks);
    void receive(Rank from, std::span<const std::uint64_t> blocks, Transfer transfer);
    /// `sends_again`: whether the rank sends in a later round.
    void end_round(Transfer transfer, bool sends_again);
    /// Adds a dissemination barrier of empty messages.
    void add_barrier();
    [[nodiscard]] RankProgram finish();

   private:
    struct BlockState {
        Location at;
        Scratch::Area area = Scratch::none;
        bool gone = false;
    };
    struct ReceivedMessage {
        Rank from;
        std::vector<std::uint64_t> blocks;
        Transfer transfer;
    };

    BlockState& state_of(std::uint64_t block);
    void set_location(std::uint64_t block, const BlockState& where);
    void use_final_locations();
    void store_blocks(const ReceivedMessage& message);
    void reduce_shares(const ReceivedMessage& message);
    void reduce_prefix(const ReceivedMessage& message, bool needs_total);
    void make_writable(std::uint64_t block);
    Location receive_location(const ReceivedMessage& message, Scratch::Area& area);
    [[nodiscard]] bool fits_final_location(std::span<const std::uint64_t> blocks) const;
    [[nodiscard]] bool is_final_location_free(const ReceivedMessage& message);
    [[nodiscard]] bool is_from_below(Rank from) const;
    [[nodiscard]] std::int64_t units_of(std::span<const std::uint64_t> blocks) const;
    void sort_by_nearness();
    void close_round();

    const BlockLayout& layout_;
    bool in_rank_order_;
    bool signals_;  // whether empty messages are sent, as in barriers
    RankProgram program_;
    std::unordered_map<std::uint64_t, BlockState> states_;  // blocks that were sent, received or moved
    Scratch scratch_;
    bool has_begun_ = false;   // whether the copies to final locations are in the program
    bool has_prefix_ = false;  // for scans: whether the output contains a prefix

    // State of the current round.
    std::vector<LocalOperation> before_, meanwhile_, after_;
    std::vector<BufferMessage> receives_, sends_;
    std::vector<ReceivedMessage> received_;
    std::vector<std::uint64_t> sent_;
    std::vector<std::uint64_t> moving_to_final_;  // blocks that `meanwhile` copies to their final location
};

}  // namespace topoloom
