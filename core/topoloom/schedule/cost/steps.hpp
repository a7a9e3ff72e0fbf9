// SPDX-License-Identifier: BSD-3-Clause
// Steps: sets of concurrent messages, as permutations of ranks or rounds of a schedule.
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

/// Rank r sends to r + by, wrapping at the end.
[[nodiscard]] Step shift_step(std::size_t ranks, std::size_t by);
/// Rank r sends to r xor by, if there is such a rank.
[[nodiscard]] Step prefix_step(std::size_t ranks, std::size_t by);
/// The ranks in as many equal blocks as `block_to` has entries: rank i of block b sends to rank i of block_to[b]. With
/// four of them a quarter permutation (Kumar 2005, lemma 2). Throws Error unless blocks are equal, and for a list that is
/// no permutation.
[[nodiscard]] Step block_step(std::size_t ranks, std::span<const std::uint32_t> block_to);

/// A step, and in how many rounds of a schedule it is taken.
struct RepeatedStep {
    Step step;
    std::uint64_t rounds;
};
/// The different rounds of a schedule, in the order in which they come first. Memory O(ranks) for each of them.
[[nodiscard]] std::vector<RepeatedStep> steps_of(const AnySchedule& schedule);

}  // namespace topoloom
