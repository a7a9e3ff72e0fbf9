// SPDX-License-Identifier: BSD-3-Clause
// What is asked of the program, and its answer: files in one folder, which rank 0 alone has to see.
#ifndef TOPOLOOM_MEASURE_JOB_H
#define TOPOLOOM_MEASURE_JOB_H

#include <stdbool.h>
#include <stdio.h>

#include "our_operations.h"

/// A schedule, or MPI's own collective where it is `mpi`, at one size.
struct sized_case {
    int bytes, way;  // `way` counts the different schedules
};

/// The file `cases` has lines of words: `operation NAME`, `ranks N`, `root R`, `repeats N`, maybe `trace FILE`, then
/// `way SCHEDULE` for each, and `case BYTES WAY`.
struct job {
    char* text;  // owned: what the others point to
    const struct operation* operation;
    collective_call* ours;  // of the same name
    int ranks, root, repeats;
    const char* trace;  // NULL: none is wanted
    const char** ways;
    int way_count;
    struct sized_case* cases;
    int case_count;
    FILE* answer;  // on rank 0: the file `samples`
};

/// Reads it on rank 0 and lets all know. Collective; ends the program if it cannot.
void read_job(struct job* job, const char* folder);
void free_job(struct job* job);
/// Leaves a reason in the answer, and ends the program: collective.
_Noreturn void give_up(const struct job* job, const char* format, ...) __attribute__((format(printf, 2, 3)));

#endif
