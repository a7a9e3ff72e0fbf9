// SPDX-License-Identifier: BSD-3-Clause
// Input and output of the program: files in one folder, which only rank 0 must see.
#ifndef TOPOLOOM_MEASURE_JOB_H
#define TOPOLOOM_MEASURE_JOB_H

#include <stdbool.h>
#include <stdio.h>

#include "our_operations.h"

/// A variant at one size.
struct sized_case {
    int bytes, variant;  // index into `variants`
};

/// The file `cases` has the lines `operation NAME`, `ranks N`, `root R`, `repeats N`, optionally `trace FILE`, then
/// `way SCHEDULE` for each variant (`mpi`: MPI's own collective), and `case BYTES INDEX` for each case.
struct job {
    char* text;  // owned; other members point into it
    const struct operation* operation;
    collective_call* our_call;  // of the same operation
    int ranks, root, repeats;
    const char* trace;  // NULL = no trace
    const char** variants;
    int variant_count;
    struct sized_case* cases;
    int case_count;
    FILE* output;  // on rank 0: the file `samples`
};

/// Reads it on rank 0 and broadcasts it. Collective; aborts the job on errors.
void read_job(struct job* job, const char* folder);
void free_job(struct job* job);
/// Writes the problem to the output and exits with status 0. Collective.
_Noreturn void exit_with_problem(const struct job* job, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
