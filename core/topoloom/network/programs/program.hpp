// SPDX-License-Identifier: BSD-3-Clause
// Interface of programs: messages of each rank in each step.
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

/// A program of steps. In each step a rank sends its messages one after the other, and receives the messages
/// of other ranks. The next step begins when all sends have left and all receives have arrived. The sender
/// and the receiver of a message have it in the step with the same number. Messages are computed on demand,
/// since all ranks together can have millions. Different threads can call the functions for different ranks.
class Program {
   public:
    Program() = default;
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    virtual ~Program() = default;

    [[nodiscard]] virtual std::size_t rank_count() const = 0;
    [[nodiscard]] virtual std::uint64_t step_count() const = 0;
    /// Appends the messages that a rank sends in a step, in sending order.
    virtual void list_sends(Rank rank, std::uint64_t step, std::vector<ProgramMessage>& messages) const = 0;
    virtual void list_receives(Rank rank, std::uint64_t step,
                               std::vector<ProgramMessage>& messages) const = 0;
};

}  // namespace topoloom
