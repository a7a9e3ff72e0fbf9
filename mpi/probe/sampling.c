// SPDX-License-Identifier: BSD-3-Clause
// Uses the median and the median absolute deviation, which are robust against outliers.
#include "sampling.h"

#include <stdlib.h>

/// For normally distributed samples: ratio of standard deviation to median deviation, and of the standard error of the
/// median to that of the mean.
static const double normal_sigma = 1.4826, median_error = 1.2533;
/// Correction factors of the median deviation, by the number n of normally distributed samples (C. Croux and P. J.
/// Rousseeuw, Time-efficient algorithms for two highly robust estimators of scale, COMPSTAT 1992); for larger n, n / (n
/// - 0.8).
static const double small_sample_factors[] = {1, 1, 1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107};
/// Maximum weight of earlier pairs, in samples: pairs differ, so their deviations predict a new pair's deviation
/// poorly.
static const double max_weight = 40;
/// Number of consecutive pairs without noise after which samples are not repeated.
enum { quiet_pairs = 2 };

void add_sample(struct samples* samples, double seconds) {
    if (samples->count == samples->capacity) {
        samples->capacity = samples->capacity == 0 ? 1024 : 2 * samples->capacity;
        samples->seconds = realloc(samples->seconds, (size_t)samples->capacity * sizeof *samples->seconds);
        if (samples->seconds == NULL) abort();
    }
    samples->seconds[samples->count++] = seconds;
}

void free_samples(struct samples* samples) { free(samples->seconds); }

static int compare_doubles(const void* a, const void* b) {
    const double left = *(const double*)a, right = *(const double*)b;
    return (left > right) - (left < right);
}

void sort_seconds(double* values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
}

static double find_median(double* values, int count) {
    sort_seconds(values, count);
    return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/// Two-sided 95 % quantile of Student's t distribution (Hill, CACM 13(10), 1970, two terms).
static double get_student_quantile(double n) {
    const double z = 1.959964;
    return z + (z * z * z + z) / (4 * n) + (5 * z * z * z * z * z + 16 * z * z * z + 3 * z) / (96 * n * n);
}

/// Estimates the standard deviation relative to the median. Overwrites the values.
static double estimate_deviation(double* values, int count) {
    const double median = find_median(values, count);
    for (int i = 0; i < count; ++i) values[i] = values[i] < median ? median - values[i] : values[i] - median;
    const int known = sizeof small_sample_factors / sizeof *small_sample_factors;
    const double factor = count < known ? small_sample_factors[count] : count / (count - 0.8);
    return normal_sigma * factor * find_median(values, count) / median;
}

/// Whether earlier pairs had no noise, so that samples need not be repeated.
static int is_quiet(const struct sampling* sampling) {
    return sampling->exact > 0 && sampling->quiet >= quiet_pairs;
}

int get_first_sample_count(const struct sampling* sampling) {
    return is_quiet(sampling) ? 1 : sampling->min_count;
}

static int is_nearly_equal(double a, double b, double exact) {
    return a - b <= exact * b && b - a <= exact * b;
}

static int has_equal_values(const double* values, int count, double exact) {
    for (int i = 1; i < count; ++i)
        if (!is_nearly_equal(values[i], values[0], exact)) return 0;
    return 1;
}

static int is_known_time(const struct sampling* sampling, double seconds) {
    for (int i = 0; i < known_times && i < sampling->known_count; ++i)
        if (is_nearly_equal(seconds, sampling->known[i], sampling->exact)) return 1;
    return 0;
}

/// Updates `quiet` and `known` with the samples of a finished pair.
static void update_noise_state(struct sampling* sampling, const double* values, int count) {
    if (!has_equal_values(values, count, sampling->exact)) {
        sampling->quiet = 0;
        return;
    }
    if (count >= sampling->min_count) ++sampling->quiet;
    if (!is_known_time(sampling, *values)) sampling->known[sampling->known_count++ % known_times] = *values;
}

/// Whether the system has no noise and the samples are equal, or a single sample equals the time of an earlier pair.
static int has_repeated_time(const struct sampling* sampling, const double* values, int count) {
    if (!is_quiet(sampling)) return 0;
    return count > 1 ? has_equal_values(values, count, sampling->exact) : is_known_time(sampling, *values);
}

/// Whether the confidence interval of the median is narrow enough, or a limit is reached.
static int is_median_accurate(struct sampling* sampling, const double* durations, int count) {
    if (count < sampling->min_count) return 0;
    double* values = malloc((size_t)count * sizeof *values);
    if (values == NULL) return 1;
    double sum = 0;
    for (int i = 0; i < count; ++i) sum += values[i] = durations[i];
    const double own_deviation = estimate_deviation(values, count);
    free(values);
    const double old_weight = sampling->weight, weight = old_weight + count - 1;
    if (weight <= 0) return 1;
    // Compare squares, so that the program needs no libm.
    const double square = (old_weight * sampling->deviation * sampling->deviation +
                           (count - 1) * own_deviation * own_deviation) /
                          weight;
    const double half = get_student_quantile(weight) *
                        median_error;  // half width of the interval as a multiple of deviation / sqrt(count)
    const double max_width = sampling->width;
    if (count < sampling->max_count && sum < sampling->seconds &&
        half * half * square > max_width * max_width * count)
        return 0;
    sampling->deviation = (old_weight * sampling->deviation + (count - 1) * own_deviation) / weight;
    sampling->weight = weight < max_weight ? weight : max_weight;
    return 1;
}

int has_enough_samples(struct sampling* sampling, const struct samples* samples, int first) {
    const double* durations = samples->seconds + first;
    const int count = samples->count - first;
    if (count < 1) return 0;
    if (!has_repeated_time(sampling, durations, count) && !is_median_accurate(sampling, durations, count))
        return 0;
    update_noise_state(sampling, durations, count);
    return 1;
}

void reset_deviation(struct sampling* sampling) { sampling->weight = 0; }
