// SPDX-License-Identifier: BSD-3-Clause
// Measures one pair of ranks.
#ifndef TOPOLOOM_PROBE_PAIRS_H
#define TOPOLOOM_PROBE_PAIRS_H

#include <mpi.h>

#include "kinds.h"
#include "rounds.h"

enum { max_sizes = 64 };

struct measurement {
    const struct exchange_kind* kind;
    int sizes[max_sizes], size_count;
    int window;
};

/// Measures a pair. Both ranks call it: the first measures until it has enough samples, the second answers.
void run_pair(struct probe* probe, const struct measurement* measurement, int first, int second);
/// Takes `repeats` samples simultaneously with the other pairs of the communicator, each from a common start.
void run_pair_simultaneously(struct probe* probe, const struct measurement* measurement, int first,
                             int second, int repeats, MPI_Comm comm);
/// Takes one sample at time `common` of the common clock. The sample is NaN if it began more than `tolerance` seconds
/// late.
void run_pair_at(struct probe* probe, const struct measurement* measurement, int first, int second,
                 double common, double tolerance);

#endif
