// SPDX-License-Identifier: BSD-3-Clause
#include "our_operations.h"

#include <stddef.h>
#include <string.h>

#include "topoloom_collective.h"

static int our_all_to_all(const struct buffers* b) {
    return topoloom_alltoall(b->in, b->count, b->type, b->out, b->count, b->type, b->comm);
}

static int our_all_gather(const struct buffers* b) {
    return topoloom_allgather(b->in, b->count, b->type, b->out, b->count, b->type, b->comm);
}

static int our_all_reduce(const struct buffers* b) {
    return topoloom_allreduce(b->in, b->out, b->count, b->type, b->op, b->comm);
}

static int our_broadcast(const struct buffers* b) {
    return topoloom_bcast(b->out, b->count, b->type, b->root, b->comm);
}

static int our_reduce(const struct buffers* b) {
    return topoloom_reduce(b->in, b->out, b->count, b->type, b->op, b->root, b->comm);
}

static int our_reduce_scatter(const struct buffers* b) {
    return topoloom_reduce_scatter_block(b->in, b->out, b->count, b->type, b->op, b->comm);
}

static int our_gather(const struct buffers* b) {
    return topoloom_gather(b->in, b->count, b->type, b->out, b->count, b->type, b->root, b->comm);
}

static int our_scatter(const struct buffers* b) {
    return topoloom_scatter(b->in, b->count, b->type, b->out, b->count, b->type, b->root, b->comm);
}

static int our_scan(const struct buffers* b) {
    return topoloom_scan(b->in, b->out, b->count, b->type, b->op, b->comm);
}

static int our_exscan(const struct buffers* b) {
    return topoloom_exscan(b->in, b->out, b->count, b->type, b->op, b->comm);
}

static int our_barrier(const struct buffers* b) { return topoloom_barrier(b->comm); }

static const struct our_operation {
    const char* name;
    collective_call* run;
} operations[] = {
    {"all-to-all", our_all_to_all}, {"all-gather", our_all_gather}, {"all-reduce", our_all_reduce},
    {"broadcast", our_broadcast},   {"reduce", our_reduce},         {"reduce-scatter", our_reduce_scatter},
    {"gather", our_gather},         {"scatter", our_scatter},       {"scan", our_scan},
    {"exscan", our_exscan},         {"barrier", our_barrier},
};

collective_call* find_our_operation(const char* name) {
    for (size_t i = 0; i < sizeof operations / sizeof *operations; ++i)
        if (strcmp(operations[i].name, name) == 0) return operations[i].run;
    return NULL;
}
