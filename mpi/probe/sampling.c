// SPDX-License-Identifier: BSD-3-Clause
// The median and the median deviation: neither minds a few samples that the system disturbed.
#include "sampling.h"

#include <stdlib.h>

/// Of normal samples: their standard deviation in median deviations, and the standard error of the median in that of
/// the mean.
static const double normal_sigma = 1.4826, median_error = 1.2533;

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
static double student(int freedom) {
    const double z = 1.959964, n = freedom;
    return z + (z * z * z + z) / (4 * n) + (5 * z * z * z * z * z + 16 * z * z * z + 3 * z) / (96 * n * n);
}

int enough(const struct sampling* sampling, const struct samples* samples, int first) {
    const int count = samples->count - first;
    if (count < sampling->least) return 0;
    double sum = 0;
    for (int i = first; i < samples->count; ++i) sum += samples->seconds[i];
    if (count >= sampling->most || sum >= sampling->seconds) return 1;
    double* values = malloc((size_t)count * sizeof *values);
    if (values == NULL) return 1;
    for (int i = 0; i < count; ++i) values[i] = samples->seconds[first + i];
    const double median = median_of(values, count);
    for (int i = 0; i < count; ++i) values[i] = values[i] < median ? median - values[i] : values[i] - median;
    const double sigma = normal_sigma * median_of(values, count);
    free(values);
    const double half = student(count - 1) * median_error * sigma, most = sampling->width * median;
    return half * half <= most * most * count;  // without sqrt there is no need of libm
}
