// SPDX-License-Identifier: BSD-3-Clause
// What one rank does in a collective: messages, copies and combinations, round by round.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/id.hpp"

namespace topoloom {

/// What the caller gives, where it wants the result, and what the program needs besides.
enum class Memory : std::uint8_t { input, output, scratch };

/// Offsets and lengths count units: elements of a reduction, else bytes.
struct Place {
    Memory memory = Memory::input;
    std::int64_t offset = 0;

    [[nodiscard]] Place after(std::int64_t units) const { return {memory, offset + units}; }
    friend bool operator==(const Place&, const Place&) = default;
};

/// A copy, or a combination: what is at `to` becomes (what is at `from`) op (what is at `to`).
struct Work {
    bool combines;
    Place from, to;
    std::int64_t units;
};

/// To or from a peer; only those of a barrier are empty.
struct PlacedMessage {
    Rank peer;
    Place at;
    std::int64_t units;
};

/// Part of an array.
struct Slice {
    std::uint32_t begin = 0, end = 0;

    [[nodiscard]] std::uint32_t size() const { return end - begin; }
};

/// In this order: the copies `before`, then all messages start, then the copies `meanwhile`, which touch nothing that the
/// messages do; when all messages have completed, the work `after`.
struct ProgramRound {
    Slice before, receives, sends, meanwhile, after;
};

/// Does what a schedule has this rank do; made by `compile`. Nothing is written to the input. Messages between two ranks
/// match in the order in which they start.
struct RankProgram {
    std::vector<ProgramRound> rounds;
    std::vector<Work> works;
    std::vector<PlacedMessage> messages;
    std::int64_t scratch_units = 0;

    [[nodiscard]] std::span<const Work> work(Slice slice) const {
        return {works.data() + slice.begin, slice.size()};
    }
    [[nodiscard]] std::span<const PlacedMessage> message(Slice slice) const {
        return {messages.data() + slice.begin, slice.size()};
    }
};

}  // namespace topoloom
