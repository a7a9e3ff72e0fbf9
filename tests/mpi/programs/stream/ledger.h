// SPDX-License-Identifier: BSD-3-Clause
// A ledger of items: detects lost, duplicated, misrouted and out-of-order items, and items from a wrong phase.
#ifndef STREAM_LEDGER_H
#define STREAM_LEDGER_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <topoloom_stream.h>

static int rank, ranks;
static MPI_Comm comm;  // of these
static uint64_t state;

static inline uint32_t draw(uint32_t below) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)(state >> 33) % below;
}

static inline void fail(const char* what) {
    fprintf(stderr, "rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static inline void check_status(int status) {
    if (status != MPI_SUCCESS) fail("an error was returned");
}

/// `number` counts the items from source to target, if the source itself pushed the item; `passes`
/// more ranks forward it.
typedef struct item {
    int source, number, passes, target, phase, is_passed;
} item;

typedef struct ledger {
    topoloom_stream stream;
    int phase;
    long long pushed, taken, sum_pushed, sum_taken;
    int *next_in, *next_out;  // next item number per rank
} ledger;

static inline ledger make_ledger(void) {
    ledger made = {0};
    made.next_in = calloc((size_t)ranks, sizeof(int));
    made.next_out = calloc((size_t)ranks, sizeof(int));
    return made;
}

static inline void free_ledger(ledger* l) {
    check_status(topoloom_stream_free(&l->stream));
    free(l->next_in);
    free(l->next_out);
}

static inline long long compute_checksum(const item* one) {
    return one->number * 7LL + one->source * 13LL + one->passes * 31LL;
}

static inline void record_push(ledger* l, const item* one) {
    ++l->pushed;
    l->sum_pushed += compute_checksum(one);
}

static inline item make_next_item(ledger* l, int target, int passes) {
    const item made = {rank, l->next_out[target]++, passes, target, l->phase, 0};
    record_push(l, &made);
    return made;
}

static inline void record_item(ledger* l, const item* one) {
    ++l->taken;
    l->sum_taken += compute_checksum(one);
    if (one->target != rank) fail("an item came to the wrong rank");
    if (one->phase != l->phase) fail("an item came in another phase");
    if (!one->is_passed && one->number != l->next_in[one->source]++) fail("an item is out of order");
}

/// Collective call after a phase.
static inline void check_sums(const ledger* l) {
    const long long own[] = {l->pushed - l->taken, l->sum_pushed - l->sum_taken};
    long long all[2];
    MPI_Allreduce(own, all, 2, MPI_LONG_LONG, MPI_SUM, comm);
    if (all[0] != 0 || all[1] != 0) fail("items were lost or came twice");
}

#endif
