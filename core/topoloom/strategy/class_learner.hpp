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

/// Explores first: tries the schedules that could still be the fastest, most promising first, and repeats
/// those that are close, one schedule per call. Later it retries runners-up, more and more rarely. Uses
/// neither clock nor random numbers, so equal times lead to equal choices on all ranks. Allocates all memory
/// in the constructor, so that no rank can fail to learn.
class ClassLearner {
   public:
    /// Times refer to messages of `bytes`. Starts with the schedule `first`. `factors` are those of another
    /// class, or null.
    ClassLearner(std::vector<TimedSchedule> schedules, Bytes bytes, std::size_t first,
                 const TimeFactors* factors);

    /// Index of the fastest schedule so far.
    [[nodiscard]] std::size_t leader() const { return leader_; }
    /// Index of the schedule for the next timed call.
    [[nodiscard]] std::size_t next_trial() const { return next_; }
    [[nodiscard]] const std::string& text(std::size_t schedule) const { return *schedules_[schedule].text; }
    /// Predicted time in seconds, with the factors learned so far.
    [[nodiscard]] double expected_time(std::size_t schedule) const {
        return predicted_time(schedules_[schedule].parts, factors_);
    }
    /// The factor that scales a time measured with `bytes` to the size of the class.
    [[nodiscard]] double compute_time_scale(std::size_t schedule, Bytes bytes) const;
    /// Null until two schedules are measured: one measurement does not show which part of the prediction is
    /// wrong.
    [[nodiscard]] const TimeFactors* factors() const { return measured_ > 1 ? &factors_ : nullptr; }

    /// Counts a call. Returns true if the ranks must now exchange their observations.
    [[nodiscard]] bool count_call();
    /// Records the time that all ranks agreed on.
    void learn(std::size_t schedule, double seconds) noexcept;
    void mark_tried(std::size_t schedule) noexcept { known_[schedule].tried = calls_; }
    /// Chooses the next schedule. Call after the last learn() of an exchange of observations.
    void choose_next() noexcept;

   private:
    struct ScheduleRecord {
        RecentTimes<5> times;
        double time = 0;          // median of the measured times; 0: none
        std::uint64_t tried = 0;  // number of calls at the last trial; 0: never tried
    };

    void find_leader();
    [[nodiscard]] TimeFit fit_times();
    [[nodiscard]] std::size_t find_most_promising(const TimeFit& fit) const;
    [[nodiscard]] std::size_t find_schedule_to_repeat() const;
    [[nodiscard]] std::size_t find_closest_untried(const TimeFit& fit) const;
    [[nodiscard]] std::size_t find_runner_up() const;

    std::vector<TimedSchedule> schedules_;
    Bytes bytes_;
    std::vector<ScheduleRecord> known_;
    std::vector<MeasuredTime> for_fit_;  // capacity is reserved for all schedules
    TimeFactors before_, factors_;
    double trust_;
    std::size_t leader_, next_;
    std::size_t measured_ = 0;
    std::uint64_t calls_ = 0, decided_ = 0, due_ = 1;
    bool explores_ = true;
    bool tries_ = false;  // whether next_ is a runner-up
};

}  // namespace topoloom
