// SPDX-License-Identifier: BSD-3-Clause
// The program of one rank in a collective: messages, copies and reductions, round by round.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/id.hpp"

namespace topoloom {

/// The buffers of a program.
enum class Memory : std::uint8_t { input, output, scratch };

/// Offsets and lengths count units: elements of a reduction, else bytes.
struct Location {
    Memory memory = Memory::input;
    std::int64_t offset = 0;

    [[nodiscard]] Location after(std::int64_t units) const { return {memory, offset + units}; }
    friend bool operator==(const Location&, const Location&) = default;
};

/// A copy, or a reduction: *to = *from op *to.
struct LocalOperation {
    bool combines;
    Location from, to;
    std::int64_t units;
};

/// To or from a peer; only those of a barrier are empty.
struct BufferMessage {
    Rank peer;
    Location at;
    std::int64_t units;
};

/// Part of an array.
struct Slice {
    std::uint32_t begin = 0, end = 0;

    [[nodiscard]] std::uint32_t size() const { return end - begin; }
};

/// In this order: the copies `before`, then all messages start, then the copies `meanwhile`, which touch nothing that the
/// messages do; when all messages have completed, the operations `after`.
struct ProgramRound {
    Slice before, receives, sends, meanwhile, after;
};

/// The part of one rank in a schedule, made by compile(). Nothing is written to the input. Messages between two ranks
/// match in the order in which they start.
struct RankProgram {
    std::vector<ProgramRound> rounds;
    std::vector<LocalOperation> operations;
    std::vector<BufferMessage> messages;
    std::int64_t scratch_units = 0;

    [[nodiscard]] std::span<const LocalOperation> operations_of(Slice slice) const {
        return {operations.data() + slice.begin, slice.size()};
    }
    [[nodiscard]] std::span<const BufferMessage> messages_of(Slice slice) const {
        return {messages.data() + slice.begin, slice.size()};
    }
};

}  // namespace topoloom
