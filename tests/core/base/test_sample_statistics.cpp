// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include <cmath>
#include <numbers>

#include "topoloom/base/samples.hpp"

using namespace topoloom;

namespace {

/// Two-sided tails with closed forms.
double closed_form_tail(double t, int freedom) {
    const double x = freedom / (freedom + t * t);
    if (freedom == 1) return 2 * std::atan(1 / t) / std::numbers::pi;
    // Integrals of cos^(freedom - 1) from 0 to atan(t / sqrt(freedom)); those for 2 and 4 degrees of freedom
    // are elementary.
    const double s = std::sqrt(1 - x);
    return freedom == 2 ? x / (1 + s) : 1 - s * (1 + x / 2);
}

}  // namespace

TEST_CASE("tails of Student's t distribution equal closed forms, near and far") {
    for (const double t : {1e-3, 0.1, 0.7, 1.0, 2.0, 5.0, 30.0}) {
        for (const int freedom : {1, 2, 4})
            CHECK(std::exp(log_student_tail(t, freedom)) ==
                  doctest::Approx(closed_form_tail(t, freedom)).epsilon(1e-9));
    }
    CHECK(log_student_tail(0, 7) == 0);
    CHECK(log_student_tail(-2, 7) == log_student_tail(2, 7));
    // Values from printed tables.
    CHECK(std::exp(log_student_tail(2.0484, 28)) == doctest::Approx(0.05).epsilon(1e-4));
    CHECK(std::exp(log_student_tail(2.7633, 28)) == doctest::Approx(0.01).epsilon(1e-4));
}

TEST_CASE("tails decrease with t and degrees of freedom, even where only their logarithm fits in a double") {
    for (const double freedom : {1.0, 2.5, 26.0, 1e3, 1e6}) {
        double before = 0;
        for (double t = 0.01; t < 1e9; t *= 1.7) {
            const double here = log_student_tail(t, freedom);
            CHECK(here < before);
            CHECK(std::isfinite(here));
            CHECK(here > log_student_tail(t, 2 * freedom) - 1e-9);
            before = here;
        }
    }
}

TEST_CASE("a far outlier does not change the mean, and widely spread values are not outliers") {
    const Sample clean = summarize({30, 31, 32, 33, 34});
    CHECK(clean.mean == doctest::Approx(32));
    CHECK(clean.sigma == doctest::Approx(std::sqrt(2.5)));
    for (const double factor : {2.5, 200.0, 1e9}) {
        const Sample found = summarize({30, 31, 32, 33, 34, 32 * factor});
        CHECK(found.mean == doctest::Approx(clean.mean));
        CHECK(found.count == 5);
        CHECK(found.outliers == 1);
    }
    CHECK(summarize({30, 31, 6000, 6200, 6100}).outliers == 0);
    CHECK(summarize({30, 6000}).outliers == 0);
    CHECK(summarize({0.1, 30, 31, 32}).outliers == 0);  // a short value is never an outlier
    CHECK(summarize({}).count == 0);
    CHECK(summarize({4}).sigma == 0);
}

TEST_CASE("equal samples show no difference, and without variance any difference is significant") {
    CHECK(student_test(summarize({1, 1, 1}), summarize({1, 1})).p() == 1);
    CHECK(student_test(summarize({1 + 1e-15, 1, 1}), summarize({1, 1})).p() > 0.5);
    CHECK(student_test(summarize({1.01, 1.01}), summarize({1, 1})).p() < 1e-10);
    CHECK(student_test(summarize({0, 0}), summarize({0, 0})).t == 0);
    CHECK(student_test(summarize({2}), summarize({1})).p() == 1);
    CHECK(student_test(summarize({}), summarize({1, 2})).p() == 1);
    CHECK(student_test(summarize({1, 2, 3}), summarize({2, 3, 4})).t < 0);
}
