// SPDX-License-Identifier: BSD-3-Clause
// A collective schedule as a program.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/network/programs/program.hpp"
#include "topoloom/schedule/any_schedule.hpp"

namespace topoloom {

/// Executes a schedule with one step per round. If the schedule has a barrier after a round, further steps
/// perform it as a dissemination barrier with empty messages (D. Hensgen, R. Finkel, U. Manber, Two
/// Algorithms for Barrier Synchronization, International Journal of Parallel Programming 17, 1988).
class ScheduleProgram final : public Program {
   public:
    /// The program refers to the schedule.
    explicit ScheduleProgram(const AnySchedule& schedule);

    [[nodiscard]] std::size_t rank_count() const override { return ranks_; }
    [[nodiscard]] std::uint64_t step_count() const override { return first_step_.back(); }
    void list_sends(Rank rank, std::uint64_t step, std::vector<ProgramMessage>& messages) const override;
    void list_receives(Rank rank, std::uint64_t step, std::vector<ProgramMessage>& messages) const override;

   private:
    /// The round of a step, and the step's index within the round: 0 is the round itself, higher indices are
    /// barrier steps.
    struct RoundStep {
        std::uint64_t round;
        std::uint64_t behind;
    };
    [[nodiscard]] RoundStep round_step(std::uint64_t step) const;

    const AnySchedule& schedule_;
    std::size_t ranks_;
    std::vector<std::uint64_t> first_step_;  // [round]: its first step; last entry: number of steps
};

}  // namespace topoloom
