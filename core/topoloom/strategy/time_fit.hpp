// SPDX-License-Identifier: BSD-3-Clause
// Fits correction factors for predicted startup, byte and route times to measured times.
#pragma once

#include <array>
#include <span>

#include "topoloom/strategy/schedule_times.hpp"

namespace topoloom {

/// Correction factors for startup, byte and route times.
using TimeFactors = std::array<double, 3>;

[[nodiscard]] double predicted_time(const ScheduleParts& parts, const TimeFactors& factors);

struct MeasuredTime {
    ScheduleParts parts;
    double seconds;
};

/// Least-squares fit of relative errors, with a normal prior around the previous factors. It predicts a mean
/// and a deviation for schedules that were not measured, too. L. Li, W. Chu, J. Langford, R. Schapire, A
/// contextual-bandit approach to personalized news article recommendation, WWW 2010 (LinUCB).
class TimeFit {
   public:
    /// First scales the factors in `before` so that predictions match the measurements in the median. `trust`
    /// is the inverse of the assumed relative deviation of these factors.
    TimeFit(const TimeFactors& before, double trust, std::span<const MeasuredTime> measured);

    [[nodiscard]] const TimeFactors& factors() const { return factors_; }
    /// Optimistic time in seconds: mean / (1 + relative deviation), so that slow schedules with a large
    /// deviation do not look fast.
    [[nodiscard]] double optimistic_time(const ScheduleParts& parts) const;

   private:
    TimeFactors before_;                     // made right
    TimeFactors factors_;                    // never negative
    std::array<TimeFactors, 3> covariance_;  // covariance of factors relative to before_
};

}  // namespace topoloom
