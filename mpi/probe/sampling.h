// SPDX-License-Identifier: BSD-3-Clause
// Decides when the median of a pair's samples is known well enough.
#ifndef TOPOLOOM_PROBE_SAMPLING_H
#define TOPOLOOM_PROBE_SAMPLING_H

enum { known_times = 8 };

struct sampling {
    int min_count, max_count;   // of samples per pair
    double width;               // target: half of the 95 % confidence interval of the median, relative to it
    double seconds;             // time limit per pair
    double exact;               // relative difference below which samples are equal; 0 = never
    double deviation;           // of samples of earlier pairs, relative to their medians
    double weight;              // of `deviation`, in samples
    int quiet;                  // number of consecutive pairs whose samples were all equal
    double known[known_times];  // ring buffer of the times of such pairs
    int known_count;            // all that were added to it
};

struct samples {
    double* seconds;  // owned
    int count, capacity;
};

void add_sample(struct samples* samples, double seconds);
void sort_seconds(double* values, int count);
/// The number of samples to take before calling has_enough_samples.
int get_first_sample_count(const struct sampling* sampling);
/// Whether the samples from `first` on, all of one pair, are enough. A few samples tell little about their deviation, so
/// that of earlier pairs counts, too. After two pairs with equal samples only, one sample is enough if an earlier pair
/// took as long, otherwise two equal ones.
int has_enough_samples(struct sampling* sampling, const struct samples* samples, int first);
/// Call it before another measurement. Keeps the knowledge whether there is noise at all.
void reset_deviation(struct sampling* sampling);
void free_samples(struct samples* samples);

#endif
