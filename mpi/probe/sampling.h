// SPDX-License-Identifier: BSD-3-Clause
// Samples of one pair of ranks: measured until their median is known well enough.
#ifndef TOPOLOOM_PROBE_SAMPLING_H
#define TOPOLOOM_PROBE_SAMPLING_H

enum { known_times = 8 };

/// How many samples are taken.
struct sampling {
    int least, most;
    double width;               // half of the 95 % confidence interval of the median, as a part of it
    double seconds;             // after which a pair takes no more
    double exact;               // samples that differ by less, as a part of them, are the same; 0: none are
    double deviation;           // of the samples of earlier pairs, as a part of their medians
    double weight;              // of that, in samples
    int quiet;                  // the last pairs whose samples were all the same
    double known[known_times];  // what such pairs took, the last ones in turn
    int known_count;            // that were noted, also those that others have replaced
};

struct samples {
    double* seconds;  // owned
    int count, room;
};

void add_sample(struct samples* samples, double seconds);
/// How many samples a pair takes before there may be enough.
int first_samples(const struct sampling* sampling);
/// Whether there are enough from `first` on, which are all of one pair. What a few samples say of their deviation is
/// little: that of earlier pairs counts, too. Once all samples of a pair were the same, and of the next one again, one is
/// enough if an earlier pair took as long, and else two that are the same.
int enough(struct sampling* sampling, const struct samples* samples, int first);
/// Before something else is measured. Whether there is noise at all stays known.
void forget_deviation(struct sampling* sampling);
void free_samples(struct samples* samples);

#endif
