// SPDX-License-Identifier: BSD-3-Clause
// Decides whether a pair has enough samples for an accurate median.
#ifndef TOPOLOOM_PROBE_SAMPLING_H
#define TOPOLOOM_PROBE_SAMPLING_H

enum { known_times = 8 };

struct sampling {
    int min_count, max_count;  // minimum and maximum number of samples per pair
    double width;  // target: half width of the 95 % confidence interval of the median, relative to the median
    double seconds;             // time limit per pair in s
    double exact;               // relative difference below which samples are equal; 0 = never
    double deviation;           // standard deviation of samples of earlier pairs, relative to their medians
    double weight;              // weight of `deviation`, as a number of samples
    int quiet;                  // number of consecutive pairs whose samples were all equal
    double known[known_times];  // ring buffer of the times of such pairs
    int known_count;            // number of times added to the ring buffer so far
};

struct samples {
    double* seconds;  // owned
    int count, capacity;
};

void add_sample(struct samples* samples, double seconds);
void sort_seconds(double* values, int count);
/// Returns the number of samples to take before the first call of has_enough_samples.
int get_first_sample_count(const struct sampling* sampling);
/// Whether the samples of a pair, from index `first` on, are enough. Because few samples give an inaccurate deviation,
/// the deviation of earlier pairs is averaged in. After two pairs whose samples were all equal, one sample is enough if
/// it equals the time of an earlier pair; otherwise two equal samples are enough.
int has_enough_samples(struct sampling* sampling, const struct samples* samples, int first);
/// Resets the deviation before a new measurement. Does not reset `quiet` and `known`.
void reset_deviation(struct sampling* sampling);
void free_samples(struct samples* samples);

#endif
