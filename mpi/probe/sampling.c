// SPDX-License-Identifier: BSD-3-Clause
// The median and the median deviation: neither minds a few samples that the system disturbed.
#include "sampling.h"

#include <stdlib.h>

/// Of normal samples: their standard deviation in median deviations, and the standard error of the median in that of
/// the mean.
static const double normal_sigma = 1.4826, median_error = 1.2533;
/// By how much the median deviation of a few normal samples is too small (C. Croux and P. J. Rousseeuw, Time-efficient
/// algorithms for two highly robust estimators of scale, COMPSTAT 1992); of more, n / (n - 0.8).
static const double small_counts[] = {1, 1, 1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107};
/// Samples of earlier pairs that count: the last ones, as pairs differ.
static const double most_weight = 40;
/// Pairs without noise, one after another, after which there is none.
enum { quiet_pairs = 2 };

void add_sample(struct samples* samples, double seconds) {
    if (samples->count == samples->room) {
        samples->room = samples->room == 0 ? 1024 : 2 * samples->room;
        samples->seconds = realloc(samples->seconds, (size_t)samples->room * sizeof *samples->seconds);
        if (samples->seconds == NULL) abort();
    }
    samples->seconds[samples->count++] = seconds;
}

void free_samples(struct samples* samples) { free(samples->seconds); }

static int compare(const void* a, const void* b) {
    const double left = *(const double*)a, right = *(const double*)b;
    return (left > right) - (left < right);
}

static double median_of(double* values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare);
    return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/// The two-sided quantile of 95 % of Student's t (Hill, CACM 13(10), 1970, cut after two terms).
static double student(double n) {
    const double z = 1.959964;
    return z + (z * z * z + z) / (4 * n) + (5 * z * z * z * z * z + 16 * z * z * z + 3 * z) / (96 * n * n);
}

/// The standard deviation of values, which are overwritten, as a part of their median.
static double deviation_of(double* values, int count) {
    const double median = median_of(values, count);
    for (int i = 0; i < count; ++i) values[i] = values[i] < median ? median - values[i] : values[i] - median;
    const int known = sizeof small_counts / sizeof *small_counts;
    const double small = count < known ? small_counts[count] : count / (count - 0.8);
    return normal_sigma * small * median_of(values, count) / median;
}

/// Whether a sample need not be repeated, as the pairs before had no noise.
static int is_quiet(const struct sampling* sampling) {
    return sampling->exact > 0 && sampling->quiet >= quiet_pairs;
}

int first_samples(const struct sampling* sampling) { return is_quiet(sampling) ? 1 : sampling->least; }

static int are_same(double a, double b, double exact) { return a - b <= exact * b && b - a <= exact * b; }

static int are_all_same(const double* values, int count, double exact) {
    for (int i = 1; i < count; ++i)
        if (!are_same(values[i], values[0], exact)) return 0;
    return 1;
}

static int is_known(const struct sampling* sampling, double seconds) {
    for (int i = 0; i < known_times && i < sampling->known_count; ++i)
        if (are_same(seconds, sampling->known[i], sampling->exact)) return 1;
    return 0;
}

/// Notes what a pair took of which there are enough samples.
static void note_pair(struct sampling* sampling, const double* values, int count) {
    if (!are_all_same(values, count, sampling->exact)) {
        sampling->quiet = 0;
        return;
    }
    if (count >= sampling->least) ++sampling->quiet;
    if (!is_known(sampling, *values)) sampling->known[sampling->known_count++ % known_times] = *values;
}

/// Whether the samples repeat each other, or a single one what another pair took.
static int are_repeated(const struct sampling* sampling, const double* values, int count) {
    if (!is_quiet(sampling)) return 0;
    return count > 1 ? are_all_same(values, count, sampling->exact) : is_known(sampling, *values);
}

/// Whether the interval of the median is narrow enough, or there is no time to make it so.
static int are_certain(struct sampling* sampling, const double* taken, int count) {
    if (count < sampling->least) return 0;
    double* values = malloc((size_t)count * sizeof *values);
    if (values == NULL) return 1;
    double sum = 0;
    for (int i = 0; i < count; ++i) sum += values[i] = taken[i];
    const double own = deviation_of(values, count);
    free(values);
    const double before = sampling->weight, weight = before + count - 1;
    if (weight <= 0) return 1;
    // Without sqrt there is no need of libm.
    const double square =
        (before * sampling->deviation * sampling->deviation + (count - 1) * own * own) / weight;
    const double half =
        student(weight) * median_error;  // of the interval, as a part of deviation / sqrt(count)
    const double most = sampling->width;
    if (count < sampling->most && sum < sampling->seconds && half * half * square > most * most * count)
        return 0;
    sampling->deviation = (before * sampling->deviation + (count - 1) * own) / weight;
    sampling->weight = weight < most_weight ? weight : most_weight;
    return 1;
}

int enough(struct sampling* sampling, const struct samples* samples, int first) {
    const double* taken = samples->seconds + first;
    const int count = samples->count - first;
    if (count < 1) return 0;
    if (!are_repeated(sampling, taken, count) && !are_certain(sampling, taken, count)) return 0;
    note_pair(sampling, taken, count);
    return 1;
}

void forget_deviation(struct sampling* sampling) { sampling->weight = 0; }
