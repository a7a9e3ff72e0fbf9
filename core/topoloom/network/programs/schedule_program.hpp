// SPDX-License-Identifier: BSD-3-Clause
// A collective schedule as a program.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/network/programs/program.hpp"
#include "topoloom/schedule/any_schedule.hpp"

namespace topoloom {

/// A step is a round; if all wait for each other after one, rounds of empty messages follow it, as a dissemination
/// barrier has them (D. Hensgen, R. Finkel, U. Manber, Two Algorithms for Barrier Synchronization, International
/// Journal of Parallel Programming 17, 1988).
class ScheduleProgram final : public Program {
   public:
    /// Keeps references to the schedule.
    explicit ScheduleProgram(const AnySchedule& schedule);

    [[nodiscard]] std::size_t rank_count() const override { return ranks_; }
    [[nodiscard]] std::uint64_t step_count() const override { return first_step_.back(); }
    void list_sends(Rank rank, std::uint64_t step, std::vector<ProgramMessage>& messages) const override;
    void list_receives(Rank rank, std::uint64_t step, std::vector<ProgramMessage>& messages) const override;

   private:
    /// The round of a step, and which of those behind it: 0 is the round's own.
    struct Part {
        std::uint64_t round;
        std::uint64_t behind;
    };
    [[nodiscard]] Part part(std::uint64_t step) const;

    const AnySchedule& schedule_;
    std::size_t ranks_;
    std::vector<std::uint64_t> first_step_;  // [round]; behind the last, the number of steps
};

}  // namespace topoloom
