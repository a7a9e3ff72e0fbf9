// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/base/samples.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace topoloom {

namespace {

constexpr double fence = 10;
constexpr double normal_sigma = 1.4826;  // standard deviation / median deviation of normal samples
constexpr double least_spread = 0.01;    // smallest outlier limit, as a fraction of the median
constexpr std::size_t outlier_share = 5;
constexpr double rounding = 1e-9;

double median_of(std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// The logarithm of I_x(a, b), by Lentz's method; converges fast for x < (a + 1) / (a + b + 2).
double log_beta_fraction(double x, double a, double b) {
    constexpr double tiny = 1e-300;
    const auto away = [](double value) { return std::abs(value) < tiny ? tiny : value; };
    double c = 1;
    double d = 1 / away(1 - (a + b) * x / (a + 1));
    double value = d;
    for (int m = 1; m < 10000; ++m) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double change = 1;
        for (const double term : {even, odd}) {
            d = 1 / away(1 + term * d);
            c = away(1 + term / c);
            change = c * d;
            value *= change;
        }
        if (std::abs(change - 1) < 1e-15) break;
    }
    return std::log(value / a);
}

}  // namespace

Sample summarize(std::vector<double> values) {
    Sample found;
    if (values.empty()) return found;
    if (values.size() > 2) {
        const double median = median_of(values);
        std::vector<double> apart;
        for (const double value : values) apart.push_back(std::abs(value - median));
        const double spread = std::max(normal_sigma * median_of(apart), least_spread * std::abs(median));
        const auto far = [&](double value) { return value > median + fence * spread; };
        const auto outliers = static_cast<std::size_t>(std::count_if(values.begin(), values.end(), far));
        if (outliers <= std::max<std::size_t>(1, values.size() / outlier_share)) {
            std::erase_if(values, far);
            found.outliers = outliers;
        }
    }
    found.count = values.size();
    const auto count = static_cast<double>(values.size());
    for (const double value : values) found.mean += value / count;
    double squares = 0;
    for (const double value : values) squares += (value - found.mean) * (value - found.mean);
    if (values.size() > 1) found.sigma = std::sqrt(squares / (count - 1));
    return found;
}

double StudentTest::p() const { return std::exp(log_p); }

StudentTest student_test(const Sample& first, const Sample& second) {
    if (first.count == 0 || second.count == 0 || first.count + second.count < 3) return {};
    const auto n = static_cast<double>(first.count);
    const auto m = static_cast<double>(second.count);
    const double freedom = n + m - 2;
    const double variance =
        ((n - 1) * first.sigma * first.sigma + (m - 1) * second.sigma * second.sigma) / freedom;
    const double rounded = rounding * std::max(std::abs(first.mean), std::abs(second.mean));
    // Samples of model costs have no variance; for them any difference is significant.
    const double least = std::max(variance, rounded * rounded);
    if (least == 0) return {};
    const double t = (first.mean - second.mean) / std::sqrt(least * (1 / n + 1 / m));
    return {t, log_student_tail(t, freedom)};
}

double log_student_tail(double t, double freedom) {
    const double a = freedom / 2, b = 0.5;
    const double ratio = t * t / freedom;
    if (ratio == 0) return 0;
    const double x = 1 / (1 + ratio);
    const double log_x = -std::log1p(ratio);
    const double log_rest = std::log(ratio) + log_x;  // of 1 - x
    const double front =
        a * log_x + b * log_rest + std::lgamma(a + b) - std::lgamma(a) - std::log(std::numbers::pi) / 2;
    if (x < (a + 1) / (a + b + 2)) return std::min(front + log_beta_fraction(x, a, b), 0.0);
    return std::log1p(-std::exp(front + log_beta_fraction(ratio * x, b, a)));
}

}  // namespace topoloom
