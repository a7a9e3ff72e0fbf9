// SPDX-License-Identifier: BSD-3-Clause
// Interface of programs: the messages of each rank, step by step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/base/unit.hpp"

namespace topoloom {

/// A message to or from a peer, possibly the rank itself.
struct ProgramMessage {
    Rank peer;
    Bytes bytes;
};

/// In each step a rank sends its messages, one after the other, and receives those of others; when the last one has left and
/// the last one has come, it begins the next step. Steps are described, not stored: a machine's ranks may have millions of
/// messages. A rank that sends in a step sends what its peer receives in the step of the same number. Calls for different
/// ranks may be made at the same time.
class Program {
   public:
    Program() = default;
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    virtual ~Program() = default;

    [[nodiscard]] virtual std::size_t rank_count() const = 0;
    [[nodiscard]] virtual std::uint64_t step_count() const = 0;
    /// Adds what a rank sends in a step, in this order.
    virtual void list_sends(Rank rank, std::uint64_t step, std::vector<ProgramMessage>& messages) const = 0;
    virtual void list_receives(Rank rank, std::uint64_t step,
                               std::vector<ProgramMessage>& messages) const = 0;
};

}  // namespace topoloom
