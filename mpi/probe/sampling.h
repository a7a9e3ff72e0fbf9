// SPDX-License-Identifier: BSD-3-Clause
// Samples of one pair of ranks: measured until their median is known well enough.
#ifndef TOPOLOOM_PROBE_SAMPLING_H
#define TOPOLOOM_PROBE_SAMPLING_H

/// How many samples are taken.
struct sampling {
    int least, most;
    double width;      // half of the 95 % confidence interval of the median, as a part of it
    double seconds;    // after which a pair takes no more
    double deviation;  // of the samples of earlier pairs, as a part of their medians
    double weight;     // of that, in samples
};

struct samples {
    double* seconds;  // owned
    int count, room;
};

void add_sample(struct samples* samples, double seconds);
/// Whether there are enough from `first` on, which are all of one pair. What a few samples say of their deviation is
/// little: that of earlier pairs counts, too.
int enough(struct sampling* sampling, const struct samples* samples, int first);
/// Before something else is measured.
void forget_deviation(struct sampling* sampling);
void free_samples(struct samples* samples);

#endif
