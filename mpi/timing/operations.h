// SPDX-License-Identifier: BSD-3-Clause
// MPI's collectives, by the names that the core uses.
#ifndef TOPOLOOM_TIMING_OPERATIONS_H
#define TOPOLOOM_TIMING_OPERATIONS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/// Arguments of a collective. Elements are bytes; of reductions, doubles to add if the block is a multiple of 8 bytes.
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
    bool in_by_rank, out_by_rank;  // the buffer has a block for each rank
    bool is_reduction;
};

/// Accepts our name or MPI's: `all-to-all` or `alltoall`, `broadcast` or `bcast`. NULL = unknown name.
const struct operation* find_operation(const char* name);

/// For blocks of up to `bytes` per rank. False = no memory on this rank; free_buffers is needed anyway.
bool make_buffers(struct buffers* buffers, const struct operation* operation, size_t bytes, int ranks);
void free_buffers(struct buffers* buffers);
/// Sets count, datatype and reduction for a block of `bytes`.
void set_block(struct buffers* buffers, const struct operation* operation, int bytes);

#endif
