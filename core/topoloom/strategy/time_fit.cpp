// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/strategy/time_fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace topoloom {

namespace {

using Matrix = std::array<TimeFactors, 3>;

/// Assumed relative error of predictions that use the best factors.
constexpr double model_error = 0.1;

TimeFactors scale_parts(const ScheduleParts& parts, const TimeFactors& factors) {
    return {parts.starts * factors[0], parts.bytes * factors[1], parts.routes * factors[2]};
}

double sum(const TimeFactors& values) { return values[0] + values[1] + values[2]; }

/// Inverse of a symmetric positive definite matrix, by cofactors.
Matrix invert_matrix(const Matrix& m) {
    const auto minor = [&](std::size_t i, std::size_t j) {
        const std::size_t a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
        return m[a][c] * m[b][d] - m[a][d] * m[b][c];
    };
    const double determinant = m[0][0] * minor(0, 0) + m[0][1] * minor(0, 1) + m[0][2] * minor(0, 2);
    Matrix result;
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) result[i][j] = minor(j, i) / determinant;
    return result;
}

/// The median ratio of measured to predicted times. Compares every pair of ratios, because sorting would need
/// memory for a list.
double median_ratio(const TimeFactors& factors, std::span<const MeasuredTime> measured) {
    const auto ratio_of = [&](const MeasuredTime& one) {
        return one.seconds / predicted_time(one.parts, factors);
    };
    for (const MeasuredTime& one : measured) {
        const double ratio = ratio_of(one);
        std::size_t below = 0, equal = 0;
        for (const MeasuredTime& other : measured) {
            below += ratio_of(other) < ratio;
            equal += ratio_of(other) == ratio;
        }
        if (below <= measured.size() / 2 && measured.size() / 2 < below + equal) return ratio;
    }
    return 1;
}

}  // namespace

double predicted_time(const ScheduleParts& parts, const TimeFactors& factors) {
    return std::max(sum(scale_parts(parts, factors)), 1e-12);
}

TimeFit::TimeFit(const TimeFactors& before, double trust, std::span<const MeasuredTime> measured)
    : before_(before) {
    const double right = median_ratio(before, measured);
    for (double& factor : before_) factor *= right;
    const double weight = 1 / (model_error * model_error);
    Matrix precision{};
    TimeFactors sums{};
    for (std::size_t k = 0; k < 3; ++k) precision[k][k] = sums[k] = trust * trust;
    for (const MeasuredTime& one : measured) {
        TimeFactors share = scale_parts(one.parts, before_);
        for (double& part : share) part /= one.seconds;
        for (std::size_t i = 0; i < 3; ++i) {
            sums[i] += weight * share[i];
            for (std::size_t j = 0; j < 3; ++j) precision[i][j] += weight * share[i] * share[j];
        }
    }
    covariance_ = invert_matrix(precision);
    constexpr double least = 0.02;
    for (std::size_t i = 0; i < 3; ++i) {
        const double factor =
            covariance_[i][0] * sums[0] + covariance_[i][1] * sums[1] + covariance_[i][2] * sums[2];
        factors_[i] = before_[i] * std::max(factor, least);
    }
}

double TimeFit::optimistic_time(const ScheduleParts& parts) const {
    const TimeFactors part = scale_parts(parts, before_);
    double variance = 0;
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) variance += part[i] * covariance_[i][j] * part[j];
    const double mean = predicted_time(parts, factors_);
    return mean * mean / (mean + std::sqrt(std::max(variance, 0.0)));
}

}  // namespace topoloom
