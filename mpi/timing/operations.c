// SPDX-License-Identifier: BSD-3-Clause
// Calls the MPI_ names, as programs do: preloaded libraries are timed, too.
#include "operations.h"

#include <stdlib.h>
#include <string.h>

static int mpi_all_to_all(const struct buffers* b) {
    return MPI_Alltoall(b->in, b->count, b->type, b->out, b->count, b->type, b->comm);
}

static int mpi_all_gather(const struct buffers* b) {
    return MPI_Allgather(b->in, b->count, b->type, b->out, b->count, b->type, b->comm);
}

static int mpi_all_reduce(const struct buffers* b) {
    return MPI_Allreduce(b->in, b->out, b->count, b->type, b->op, b->comm);
}

static int mpi_broadcast(const struct buffers* b) {
    return MPI_Bcast(b->out, b->count, b->type, b->root, b->comm);
}

static int mpi_reduce(const struct buffers* b) {
    return MPI_Reduce(b->in, b->out, b->count, b->type, b->op, b->root, b->comm);
}

static int mpi_reduce_scatter(const struct buffers* b) {
    return MPI_Reduce_scatter_block(b->in, b->out, b->count, b->type, b->op, b->comm);
}

static int mpi_gather(const struct buffers* b) {
    return MPI_Gather(b->in, b->count, b->type, b->out, b->count, b->type, b->root, b->comm);
}

static int mpi_scatter(const struct buffers* b) {
    return MPI_Scatter(b->in, b->count, b->type, b->out, b->count, b->type, b->root, b->comm);
}

static int mpi_scan(const struct buffers* b) {
    return MPI_Scan(b->in, b->out, b->count, b->type, b->op, b->comm);
}

static int mpi_exscan(const struct buffers* b) {
    return MPI_Exscan(b->in, b->out, b->count, b->type, b->op, b->comm);
}

static int mpi_barrier(const struct buffers* b) { return MPI_Barrier(b->comm); }

static const struct operation operations[] = {
    {"all-to-all", mpi_all_to_all, true, true, false},
    {"all-gather", mpi_all_gather, false, true, false},
    {"all-reduce", mpi_all_reduce, false, false, true},
    {"broadcast", mpi_broadcast, false, false, false},
    {"reduce", mpi_reduce, false, false, true},
    {"reduce-scatter", mpi_reduce_scatter, true, false, true},
    {"gather", mpi_gather, false, true, false},
    {"scatter", mpi_scatter, true, false, false},
    {"scan", mpi_scan, false, false, true},
    {"exscan", mpi_exscan, false, false, true},
    {"barrier", mpi_barrier, false, false, false},
};

static bool is_same_without_hyphens(const char* name, const char* other) {
    for (;; ++name, ++other) {
        while (*name == '-') ++name;
        while (*other == '-') ++other;
        if (*name != *other) return false;
        if (*name == '\0') return true;
    }
}

const struct operation* find_operation(const char* name) {
    if (strcmp(name, "bcast") == 0) name = "broadcast";
    for (size_t i = 0; i < sizeof operations / sizeof *operations; ++i)
        if (is_same_without_hyphens(operations[i].name, name)) return &operations[i];
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
