// SPDX-License-Identifier: BSD-3-Clause
// One pair of ranks: as many exchanges as it takes.
#ifndef TOPOLOOM_PROBE_PAIRS_H
#define TOPOLOOM_PROBE_PAIRS_H

#include <mpi.h>

#include "kinds.h"
#include "rounds.h"

enum { most_sizes = 64 };

struct measure {
    const struct kind* kind;
    int sizes[most_sizes], size_count;
    int window;
};

/// Called by both ranks, of which this is one: the first asks, until it has enough samples.
void run_pair(struct probe* probe, const struct measure* measure, int first, int second);
/// The same number of samples on all ranks of the communicator, each from a common start.
void run_pair_with_others(struct probe* probe, const struct measure* measure, int first, int second,
                          int repeats, MPI_Comm comm);
/// A single sample, from a time of the common clock on; NaN where it began later than it may.
void run_pair_at(struct probe* probe, const struct measure* measure, int first, int second, double common,
                 double tolerance);

#endif
