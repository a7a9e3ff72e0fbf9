// SPDX-License-Identifier: BSD-3-Clause
// Each collective twice: as MPI's library runs it, and as ours does.
#include "operations.h"

#include <stddef.h>
#include <string.h>

#include "topoloom_collective.h"

static int mpi_all_to_all(const struct buffers* b) {
    return MPI_Alltoall(b->in, b->count, b->type, b->out, b->count, b->type, b->comm);
}
static int our_all_to_all(const struct buffers* b) {
    return topoloom_alltoall(b->in, b->count, b->type, b->out, b->count, b->type, b->comm);
}

static int mpi_all_gather(const struct buffers* b) {
    return MPI_Allgather(b->in, b->count, b->type, b->out, b->count, b->type, b->comm);
}
static int our_all_gather(const struct buffers* b) {
    return topoloom_allgather(b->in, b->count, b->type, b->out, b->count, b->type, b->comm);
}

static int mpi_all_reduce(const struct buffers* b) {
    return MPI_Allreduce(b->in, b->out, b->count, b->type, b->op, b->comm);
}
static int our_all_reduce(const struct buffers* b) {
    return topoloom_allreduce(b->in, b->out, b->count, b->type, b->op, b->comm);
}

static int mpi_broadcast(const struct buffers* b) {
    return MPI_Bcast(b->out, b->count, b->type, b->root, b->comm);
}
static int our_broadcast(const struct buffers* b) {
    return topoloom_bcast(b->out, b->count, b->type, b->root, b->comm);
}

static int mpi_reduce(const struct buffers* b) {
    return MPI_Reduce(b->in, b->out, b->count, b->type, b->op, b->root, b->comm);
}
static int our_reduce(const struct buffers* b) {
    return topoloom_reduce(b->in, b->out, b->count, b->type, b->op, b->root, b->comm);
}

static int mpi_reduce_scatter(const struct buffers* b) {
    return MPI_Reduce_scatter_block(b->in, b->out, b->count, b->type, b->op, b->comm);
}
static int our_reduce_scatter(const struct buffers* b) {
    return topoloom_reduce_scatter_block(b->in, b->out, b->count, b->type, b->op, b->comm);
}

static int mpi_gather(const struct buffers* b) {
    return MPI_Gather(b->in, b->count, b->type, b->out, b->count, b->type, b->root, b->comm);
}
static int our_gather(const struct buffers* b) {
    return topoloom_gather(b->in, b->count, b->type, b->out, b->count, b->type, b->root, b->comm);
}

static int mpi_scatter(const struct buffers* b) {
    return MPI_Scatter(b->in, b->count, b->type, b->out, b->count, b->type, b->root, b->comm);
}
static int our_scatter(const struct buffers* b) {
    return topoloom_scatter(b->in, b->count, b->type, b->out, b->count, b->type, b->root, b->comm);
}

static int mpi_scan(const struct buffers* b) {
    return MPI_Scan(b->in, b->out, b->count, b->type, b->op, b->comm);
}
static int our_scan(const struct buffers* b) {
    return topoloom_scan(b->in, b->out, b->count, b->type, b->op, b->comm);
}

static int mpi_exscan(const struct buffers* b) {
    return MPI_Exscan(b->in, b->out, b->count, b->type, b->op, b->comm);
}
static int our_exscan(const struct buffers* b) {
    return topoloom_exscan(b->in, b->out, b->count, b->type, b->op, b->comm);
}

static int mpi_barrier(const struct buffers* b) { return MPI_Barrier(b->comm); }
static int our_barrier(const struct buffers* b) { return topoloom_barrier(b->comm); }

static const struct operation operations[] = {
    {"all-to-all", mpi_all_to_all, our_all_to_all, true, true, false},
    {"all-gather", mpi_all_gather, our_all_gather, false, true, false},
    {"all-reduce", mpi_all_reduce, our_all_reduce, false, false, true},
    {"broadcast", mpi_broadcast, our_broadcast, false, false, false},
    {"reduce", mpi_reduce, our_reduce, false, false, true},
    {"reduce-scatter", mpi_reduce_scatter, our_reduce_scatter, true, false, true},
    {"gather", mpi_gather, our_gather, false, true, false},
    {"scatter", mpi_scatter, our_scatter, true, false, false},
    {"scan", mpi_scan, our_scan, false, false, true},
    {"exscan", mpi_exscan, our_exscan, false, false, true},
    {"barrier", mpi_barrier, our_barrier, false, false, false},
};

const struct operation* find_operation(const char* name) {
    for (size_t i = 0; i < sizeof operations / sizeof *operations; ++i)
        if (strcmp(operations[i].name, name) == 0) return &operations[i];
    return NULL;
}
