// SPDX-License-Identifier: BSD-3-Clause
// The program of one rank in a collective: messages, copies and reductions, round by round.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/id.hpp"

namespace topoloom {

/// The buffers of a program.
enum class ProgramBuffer : std::uint8_t { input, output, scratch };

/// A location in a buffer. Offsets and lengths are in units: elements for reductions, else bytes.
struct Location {
    ProgramBuffer memory = ProgramBuffer::input;
    std::int64_t offset = 0;

    [[nodiscard]] Location after(std::int64_t units) const { return {memory, offset + units}; }
    friend bool operator==(const Location&, const Location&) = default;
};

/// A local copy, or a local reduction: *to = *from op *to.
struct LocalOperation {
    bool combines;
    Location from, to;
    std::int64_t units;
};

/// A message to or from a peer; empty only in barriers.
struct BufferMessage {
    Rank peer;
    Location at;
    std::int64_t units;
};

/// A range [begin, end) of an array.
struct IndexRange {
    std::uint32_t begin = 0, end = 0;

    [[nodiscard]] std::uint32_t size() const { return end - begin; }
};

/// One round: performs the copies `before`; starts all messages; performs the copies `meanwhile`, which do
/// not touch message buffers; waits for all messages; performs the operations `after`.
struct ProgramRound {
    IndexRange before, receives, sends, meanwhile, after;
};

/// What one rank does in a schedule; see compile(). The input is never written. Messages between two ranks
/// match in the order in which they are started.
struct RankProgram {
    std::vector<ProgramRound> rounds;
    std::vector<LocalOperation> operations;
    std::vector<BufferMessage> messages;
    std::int64_t scratch_units = 0;

    [[nodiscard]] std::span<const LocalOperation> operations_of(IndexRange slice) const {
        return {operations.data() + slice.begin, slice.size()};
    }
    [[nodiscard]] std::span<const BufferMessage> messages_of(IndexRange slice) const {
        return {messages.data() + slice.begin, slice.size()};
    }
};

}  // namespace topoloom
