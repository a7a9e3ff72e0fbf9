// SPDX-License-Identifier: BSD-3-Clause
// Fits correction factors of predicted startup, byte and route times to measured times.
#pragma once

#include <array>
#include <span>

#include "topoloom/strategy/schedule_times.hpp"

namespace topoloom {

/// Factors of the parts of predicted times.
using TimeFactors = std::array<double, 3>;

[[nodiscard]] double predicted_time(const ScheduleParts& parts, const TimeFactors& factors);

struct Measured {
    ScheduleParts parts;
    double seconds;
};

/// Least squares of relative errors, with normal distributions around the factors of before: what is known of a schedule
/// that was not measured is a mean and a deviation. L. Li, W. Chu, J. Langford, R. Schapire, A contextual-bandit approach to
/// personalized news article recommendation, WWW 2010 (LinUCB).
class TimeFit {
   public:
    /// Whatever the factors of before are, they are made right for the median of what was measured. `trust` in them is the
    /// inverse of their relative deviation.
    TimeFit(const TimeFactors& before, double trust, std::span<const Measured> measured);

    [[nodiscard]] const TimeFactors& factors() const { return factors_; }
    /// Seconds: the mean divided by 1 and its relative deviation, so that what may be long does not look short.
    [[nodiscard]] double optimistic(const ScheduleParts& parts) const;

   private:
    TimeFactors before_;                     // made right
    TimeFactors factors_;                    // never negative
    std::array<TimeFactors, 3> covariance_;  // of factors in terms of those before
};

}  // namespace topoloom
