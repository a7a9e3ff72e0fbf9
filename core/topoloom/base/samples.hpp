// SPDX-License-Identifier: BSD-3-Clause
// What measured times say: their mean without outliers, and whether two samples of them have one mean.
#pragma once

#include <cstddef>
#include <vector>

namespace topoloom {

/// Measured values without outliers.
struct Sample {
    double mean = 0;
    double sigma = 0;          // with n - 1; 0 for a single value
    std::size_t count = 0;     // of those that are left
    std::size_t outliers = 0;  // left out
};

/// Leaves out values that lie above the median by more than ten times 1.4826 times the median deviation, or ten times 1 %
/// of the median, whichever is more; none of fewer than three, and none where more than one and more than a fifth lie
/// there.
[[nodiscard]] Sample summarize(std::vector<double> values);

/// Student's test that two samples have one mean, with pooled variance.
struct StudentTest {
    double t = 0;      // above 0 where the first mean is the larger
    double log_p = 0;  // of the two-sided probability of such a t or a larger one; natural logarithm

    [[nodiscard]] double p() const;
};

/// t = 0 and p = 1 for an empty sample and for two single values. Values that differ by less than 1e-9 of themselves
/// count as equal.
[[nodiscard]] StudentTest student_test(const Sample& first, const Sample& second);

/// The natural logarithm of the probability that |t| is as large or larger: of the regularized incomplete beta function
/// I_x(freedom / 2, 1 / 2) at x = freedom / (freedom + t^2), by its continued fraction.
[[nodiscard]] double log_student_tail(double t, double freedom);

}  // namespace topoloom
