// SPDX-License-Identifier: BSD-3-Clause
// Calls MPI_ functions, not PMPI_ functions, so that preloaded libraries are timed.
#include "operations.h"

#include <stdlib.h>
#include <string.h>

#define OPERATION(name, lower, Mpi, in_by_rank, out_by_rank, is_reduction, ...) \
    static int mpi_##lower(const struct buffers* b) { return MPI_##Mpi(__VA_ARGS__); }
#include "operation_calls.h"
#undef OPERATION

#define OPERATION(name, lower, Mpi, in_by_rank, out_by_rank, is_reduction, ...) \
    {name, mpi_##lower, in_by_rank, out_by_rank, is_reduction},
static const struct operation operations[] = {
#include "operation_calls.h"
};

const struct operation* find_operation(const char* name) {
    for (size_t i = 0; i < sizeof operations / sizeof *operations; ++i)
        if (strcmp(operations[i].name, name) == 0) return &operations[i];
    return NULL;
}

bool make_buffers(struct buffers* buffers, const struct operation* operation, size_t bytes, int ranks) {
    const size_t by_rank = bytes * (size_t)ranks;
    *buffers = (struct buffers){.in = calloc(1, (operation->in_by_rank ? by_rank : bytes) + 1),
                                .out = calloc(1, (operation->out_by_rank ? by_rank : bytes) + 1)};
    return buffers->in != NULL && buffers->out != NULL;
}

void free_buffers(struct buffers* buffers) {
    free(buffers->in);
    free(buffers->out);
}

void set_block(struct buffers* buffers, const struct operation* operation, int bytes) {
    const bool doubles = operation->is_reduction && bytes % (int)sizeof(double) == 0;
    buffers->type = doubles ? MPI_DOUBLE : MPI_BYTE;
    buffers->op = doubles ? MPI_SUM : MPI_BOR;
    buffers->count = doubles ? bytes / (int)sizeof(double) : bytes;
}
