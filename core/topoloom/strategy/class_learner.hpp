// SPDX-License-Identifier: BSD-3-Clause
// Learns the fastest schedule for one operation and one size class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "topoloom/strategy/recent_times.hpp"
#include "topoloom/strategy/strategy.hpp"
#include "topoloom/strategy/time_fit.hpp"

namespace topoloom {

/// First it tries what could still be the fastest by the times so far, the most promising first, and repeats what comes close,
/// one call each; then ever more rarely one of the runners-up. No clock and no chance: equal times lead to equal choices. All
/// memory is taken at the start: what one rank can learn, all can.
class ClassLearner {
   public:
    /// Schedules are timed at these bytes, and it begins with the one of index `first`; factors are those of another class,
    /// if one has any.
    ClassLearner(std::vector<TimedSchedule> schedules, Bytes bytes, std::size_t first,
                 const TimeFactors* factors);

    /// Index of the fastest schedule so far.
    [[nodiscard]] std::size_t leader() const { return leader_; }
    /// Index of the schedule for the next timed call.
    [[nodiscard]] std::size_t next() const { return next_; }
    [[nodiscard]] const std::string& text(std::size_t schedule) const { return *schedules_[schedule].text; }
    /// Predicted seconds, with the factors learned so far.
    [[nodiscard]] double expected(std::size_t schedule) const {
        return predicted_time(schedules_[schedule].parts, factors_);
    }
    /// Scales a time measured at other bytes to those of the class.
    [[nodiscard]] double scale(std::size_t schedule, Bytes bytes) const;
    /// Once two schedules are measured, as one does not show which part is wrong.
    [[nodiscard]] const TimeFactors* factors() const { return measured_ > 1 ? &factors_ : nullptr; }

    /// One more call; true: all ranks must now tell each other what they have seen.
    [[nodiscard]] bool count_call();
    /// Records the time that all ranks agreed on. Without a time (no clock could measure it), the schedule counts as
    /// tried.
    void learn(std::size_t schedule, double seconds) noexcept;
    void learn_nothing(std::size_t schedule) noexcept { known_[schedule].tried = calls_; }
    /// Call after the last learn() of a fence.
    void decide() noexcept;

   private:
    struct Known {
        RecentTimes<5> times;
        double time = 0;          // their median; 0: there are none
        std::uint64_t tried = 0;  // the call after which it was last; 0: never
    };

    void find_leader();
    [[nodiscard]] TimeFit fit();
    [[nodiscard]] std::size_t most_promising(const TimeFit& fit) const;
    [[nodiscard]] std::size_t to_repeat() const;
    [[nodiscard]] std::size_t closest(const TimeFit& fit) const;
    [[nodiscard]] std::size_t runner_up() const;

    std::vector<TimedSchedule> schedules_;
    Bytes bytes_;
    std::vector<Known> known_;
    std::vector<Measured> for_fit_;  // with room for all
    TimeFactors before_, factors_;
    double trust_;
    std::size_t leader_, next_;
    std::size_t measured_ = 0;
    std::uint64_t calls_ = 0, decided_ = 0, due_ = 1;
    bool explores_ = true;
    bool tries_ = false;  // next is a runner-up
};

}  // namespace topoloom
