// SPDX-License-Identifier: BSD-3-Clause
// Statistics of measured times: the mean without outliers, and a test for equal means.
#pragma once

#include <cstddef>
#include <vector>

namespace topoloom {

/// Mean and standard deviation of measured values without outliers.
struct Sample {
    double mean = 0;
    double sigma = 0;          // standard deviation with n - 1; 0 for a single value
    std::size_t count = 0;     // values kept
    std::size_t outliers = 0;  // values removed
};

/// Removes outliers. A value is one if it exceeds the median by more than 10 * 1.4826 * the median absolute
/// deviation and by more than 10 % of the median. Removes nothing if there are fewer than three values, or if
/// several values and more than a fifth of all would be outliers.
[[nodiscard]] Sample summarize(std::vector<double> values);

/// The result of Student's test of whether two samples have the same mean, with pooled variance.
struct StudentTest {
    double t = 0;      // t statistic; positive if the first sample has the larger mean
    double log_p = 0;  // natural logarithm of the two-sided p-value

    [[nodiscard]] double p() const;
};

/// Student's t-test. Returns t = 0 and p = 1 if a sample is empty or both consist of a single value. Values
/// with a relative difference below 1e-9 count as equal.
[[nodiscard]] StudentTest student_test(const Sample& first, const Sample& second);

/// Natural logarithm of the two-sided tail probability of |t|: the regularized incomplete beta function
/// I_x(freedom / 2, 1 / 2) at x = freedom / (freedom + t^2), by its continued fraction.
[[nodiscard]] double log_student_tail(double t, double freedom);

}  // namespace topoloom
