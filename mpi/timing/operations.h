// SPDX-License-Identifier: BSD-3-Clause
// MPI's collectives by name.
#ifndef TOPOLOOM_TIMING_OPERATIONS_H
#define TOPOLOOM_TIMING_OPERATIONS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/// Arguments of a collective. Elements are bytes. In reductions of blocks that are multiples of 8 bytes,
/// elements are doubles, which are added.
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
    bool in_by_rank, out_by_rank;  // whether the buffer has one block per rank
    bool is_reduction;
};

/// Finds an operation by MPI's name, such as `alltoall` or `reduce_scatter`. Returns NULL for an unknown name.
const struct operation* find_operation(const char* name);

/// Allocates buffers for blocks of up to `bytes` per rank. Returns false if memory is exhausted on this rank. In both
/// cases, call free_buffers.
bool make_buffers(struct buffers* buffers, const struct operation* operation, size_t bytes, int ranks);
void free_buffers(struct buffers* buffers);
/// Sets count, datatype and operator for a block of `bytes`.
void set_block(struct buffers* buffers, const struct operation* operation, int bytes);

#endif
