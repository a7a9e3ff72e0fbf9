// SPDX-License-Identifier: BSD-3-Clause
// Records persistent requests at each start.
//
// Recording functions add to the counters. Between begin_persistent_init and end_persistent_init, they add to the new
// request instead. So persistent calls use the same recording functions.
#include <stdlib.h>

#include "record.h"

struct start_count {
    bool is_collective;
    int what;  // a transfer_kind or an operation
    int peer;  // or root
    const struct communicator* communicator;
    int64_t bytes;
};

/// Counts to add at each start of a request.
struct request_counts {
    uintptr_t request;
    int count, capacity;
    struct start_count* start_counts;
    struct request_counts* next;
};

enum { bucket_count = 1024 };
static struct request_counts* buckets_[bucket_count];
static struct request_counts* current_;

static struct request_counts** get_bucket(uintptr_t request) {
    return &buckets_[((uint64_t)request * 0x9E3779B97F4A7C15u) >> 54];
}

static void add_start_count(struct start_count start_count) {
    if (current_->count == current_->capacity) {
        const int capacity = current_->capacity == 0 ? 1 : 2 * current_->capacity;
        struct start_count* start_counts =
            realloc(current_->start_counts, (size_t)capacity * sizeof *start_counts);
        if (start_counts == NULL) {
            ++record_lost;
            return;
        }
        current_->start_counts = start_counts;
        current_->capacity = capacity;
    }
    current_->start_counts[current_->count++] = start_count;
}

static void count(const struct start_count* start_count) {
    const struct communicator* communicator = start_count->communicator;
    if (start_count->is_collective)
        count_collective((enum operation)start_count->what, communicator->id, start_count->peer,
                         start_count->bytes);
    else
        count_messages((enum transfer_kind)start_count->what, communicator == NULL ? 0 : communicator->number,
                       start_count->peer, start_count->bytes, 1);
}

static void add(struct start_count start_count) {
    if (current_ == NULL)
        count(&start_count);
    else
        add_start_count(start_count);
}

static void add_message(enum transfer_kind kind, const struct communicator* communicator, int peer,
                        int64_t bytes) {
    if (peer < 0)
        ++record_lost;  // the peer was spawned or connected later, so it is not in this world
    else
        add((struct start_count){false, (int)kind, peer, communicator, bytes});
}

void add_transfer(enum transfer_kind kind, int peer, int64_t bytes) { add_message(kind, NULL, peer, bytes); }

void add_direct_transfer(const struct communicator* communicator, int peer, int64_t bytes) {
    add_message(KIND_DIRECT, communicator, peer, bytes);
}

void add_collective(enum operation operation, const struct communicator* communicator, int root,
                    int64_t bytes) {
    if (communicator == NULL)
        ++record_lost;
    else
        add((struct start_count){true, (int)operation, root, communicator, bytes});
}

static struct request_counts** find_request_counts(MPI_Request request) {
    struct request_counts** link = get_bucket((uintptr_t)request);
    while (*link != NULL && (*link)->request != (uintptr_t)request) link = &(*link)->next;
    return link;
}

void begin_persistent_init(void) { current_ = calloc(1, sizeof *current_); }

void end_persistent_init(MPI_Request request) {
    struct request_counts* found = current_;
    current_ = NULL;
    if (found == NULL) return;
    remove_request(request);
    found->request = (uintptr_t)request;
    found->next = *get_bucket(found->request);
    *get_bucket(found->request) = found;
}

void record_request_start(MPI_Request request) {
    const struct request_counts* found = *find_request_counts(request);
    for (int i = 0; found != NULL && i < found->count; ++i) count(&found->start_counts[i]);
}

void remove_request(MPI_Request request) {
    struct request_counts** link = find_request_counts(request);
    struct request_counts* found = *link;
    if (found == NULL) return;
    *link = found->next;
    free(found->start_counts);
    free(found);
}
