// SPDX-License-Identifier: BSD-3-Clause
// Input and output of the measurement program: files in one folder that only rank 0 accesses.
#ifndef TOPOLOOM_MEASURE_JOB_H
#define TOPOLOOM_MEASURE_JOB_H

#include <stdbool.h>
#include <stdio.h>

#include "our_operations.h"

/// A variant and a message size.
struct sized_case {
    int bytes, variant;  // `variant` is an index into `variants`
};

/// Job description. The file `cases` has the lines `operation NAME`, `ranks N`, `root R`, `repeats N`, optionally
/// `trace FILE`, then `way SCHEDULE` per variant (`mpi`: MPI's own collective), and `case BYTES INDEX` per case.
struct job {
    char* text;  // owned; other members point into this text
    const struct operation* operation;
    collective_call* our_call;  // the same operation, implemented by libtopoloom-collective
    int ranks, root, repeats;
    const char* trace;  // NULL = no trace
    const char** variants;
    int variant_count;
    struct sized_case* cases;
    int case_count;
    FILE* output;  // file `samples`; only on rank 0
};

/// Reads the job on rank 0 and broadcasts it. Collective. Aborts the program on errors.
void read_job(struct job* job, const char* folder);
void free_job(struct job* job);
/// Writes the description of a problem to the output, and exits with status 0. Collective.
_Noreturn void exit_with_problem(const struct job* job, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
