// SPDX-License-Identifier: BSD-3-Clause
// MPI's collectives that are timed, by the core's names.
#ifndef TOPOLOOM_TIMING_OPERATIONS_H
#define TOPOLOOM_TIMING_OPERATIONS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/// Elements are bytes; those of reductions are doubles that are added where they fill the bytes, else bytes.
struct buffers {
    char *in, *out;
    int count, root;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm comm;
};

typedef int collective_call(const struct buffers*);  // NOLINT(readability-identifier-naming): C

struct operation {
    const char* name;
    collective_call* run;
    bool in_by_rank, out_by_rank;  // whether a buffer has a block for each rank
    bool combines;
};

/// By name, or as MPI has it: `all-to-all` or `alltoall`, `broadcast` or `bcast`. NULL: there is none of that name.
const struct operation* find_operation(const char* name);

/// For blocks of up to `bytes` on each of `ranks`. False: there is no memory for them on this rank.
bool make_buffers(struct buffers* buffers, const struct operation* operation, size_t bytes, int ranks);
void free_buffers(struct buffers* buffers);
/// What a call of a block of `bytes` takes.
void set_block(struct buffers* buffers, const struct operation* operation, int bytes);

#endif
