// SPDX-License-Identifier: BSD-3-Clause
// Steps: sets of concurrent messages, given by permutations of ranks or rounds of a schedule.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/schedule/any_schedule.hpp"

namespace topoloom {

struct StepMessage {
    Rank from;
    Rank to;
    friend auto operator<=>(const StepMessage&, const StepMessage&) = default;
};

using Step = std::vector<StepMessage>;

/// Rank r sends to r + by, modulo the number of ranks.
[[nodiscard]] Step shift_step(std::size_t ranks, std::size_t by);
/// Rank r sends to r xor by, if that rank exists.
[[nodiscard]] Step prefix_step(std::size_t ranks, std::size_t by);
/// Divides the ranks into equal blocks, one per entry of `block_to`: rank i of block b sends to rank i of
/// block_to[b]. Four blocks give a quarter permutation (Kumar 2005, lemma 2). Throws Error unless the blocks
/// are equal and block_to is a permutation.
[[nodiscard]] Step block_step(std::size_t ranks, std::span<const std::uint32_t> block_to);

/// A step, and the number of rounds of a schedule in which it occurs.
struct RepeatedStep {
    Step step;
    std::uint64_t rounds;
};
/// Lists the distinct rounds of a schedule in order of their first occurrence. Memory O(ranks) per distinct
/// round.
[[nodiscard]] std::vector<RepeatedStep> list_schedule_steps(const AnySchedule& schedule);

}  // namespace topoloom
