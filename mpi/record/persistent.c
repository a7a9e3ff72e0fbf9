// SPDX-License-Identifier: BSD-3-Clause
// Persistent requests: made once, sent at every start. A plan is what one start sends.
//
// The notes of a call (note.c) post either into the counters or, between plan_begin and plan_end, into a
// plan; so a persistent call needs no notes of its own.
#include <stdlib.h>

#include "record.h"

struct deposit {
    bool is_collective;
    int what;  // kind or operation
    int peer;  // or root
    uint64_t communicator;
    int64_t bytes;
};

struct plan {
    uintptr_t request;
    int count, capacity;
    struct deposit* deposits;
    struct plan* next;
};

enum { bucket_count = 1024 };
static struct plan* buckets_[bucket_count];
static struct plan* making_;

static struct plan** bucket(uintptr_t request) {
    return &buckets_[((uint64_t)request * 0x9E3779B97F4A7C15u) >> 54];
}

static void plan_add(struct deposit deposit) {
    if (making_->count == making_->capacity) {
        const int capacity = making_->capacity == 0 ? 1 : 2 * making_->capacity;
        struct deposit* deposits = realloc(making_->deposits, (size_t)capacity * sizeof *deposits);
        if (deposits == NULL) {
            ++record_lost;
            return;
        }
        making_->deposits = deposits;
        making_->capacity = capacity;
    }
    making_->deposits[making_->count++] = deposit;
}

void post(enum kind kind, int peer, int64_t bytes) {
    if (peer < 0) {
        ++record_lost;  // a process that was spawned or connected later: it is not part of this world
    } else if (making_ == NULL) {
        counter_add(kind, peer, bytes, 1);
    } else {
        plan_add((struct deposit){false, (int)kind, peer, 0, bytes});
    }
}

void post_collective(enum operation operation, uint64_t communicator, int root, int64_t bytes) {
    if (communicator == 0)
        ++record_lost;
    else if (making_ == NULL)
        record_add(operation, communicator, root, bytes);
    else
        plan_add((struct deposit){true, (int)operation, root, communicator, bytes});
}

static struct plan** find(MPI_Request request) {
    struct plan** link = bucket((uintptr_t)request);
    while (*link != NULL && (*link)->request != (uintptr_t)request) link = &(*link)->next;
    return link;
}

void plan_begin(void) { making_ = calloc(1, sizeof *making_); }

void plan_end(MPI_Request request) {
    struct plan* plan = making_;
    making_ = NULL;
    if (plan == NULL) return;
    plan_forget(request);
    plan->request = (uintptr_t)request;
    plan->next = *bucket(plan->request);
    *bucket(plan->request) = plan;
}

void plan_play(MPI_Request request) {
    const struct plan* plan = *find(request);
    for (int i = 0; plan != NULL && i < plan->count; ++i) {
        const struct deposit* deposit = &plan->deposits[i];
        if (deposit->is_collective)
            record_add((enum operation)deposit->what, deposit->communicator, deposit->peer, deposit->bytes);
        else
            counter_add((enum kind)deposit->what, deposit->peer, deposit->bytes, 1);
    }
}

void plan_forget(MPI_Request request) {
    struct plan** link = find(request);
    struct plan* plan = *link;
    if (plan == NULL) return;
    *link = plan->next;
    free(plan->deposits);
    free(plan);
}
