// SPDX-License-Identifier: BSD-3-Clause
// The collectives that are timed, MPI's and ours, by the core's names.
#ifndef TOPOLOOM_MEASURE_OPERATIONS_H
#define TOPOLOOM_MEASURE_OPERATIONS_H

#include <mpi.h>
#include <stdbool.h>

/// Elements are bytes; those of reductions are doubles that are added where they fill the bytes, else bytes.
struct buffers {
    char *in, *out;
    int count, root;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm comm;
};

struct operation {
    const char* name;
    int (*mpi)(const struct buffers*);
    int (*ours)(const struct buffers*);
    bool in_by_rank, out_by_rank;  // whether a buffer has a block for each rank
    bool combines;
};

/// NULL: there is none of that name.
const struct operation* find_operation(const char* name);

#endif
