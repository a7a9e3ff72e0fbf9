// SPDX-License-Identifier: BSD-3-Clause
// Records persistent requests at every start.
//
// Recording functions add to the counters or, between begin_persistent_init and end_persistent_init, to the request that
// is being created. So persistent calls need no recording functions of their own.
#include <stdlib.h>

#include "record.h"

struct effect {
    bool is_collective;
    int what;  // enum transfer_kind or enum operation
    int peer;  // or root
    uint64_t communicator;
    int64_t bytes;
};

/// The counts that each start of a request adds.
struct start_effects {
    uintptr_t request;
    int count, capacity;
    struct effect* effects;
    struct start_effects* next;
};

enum { bucket_count = 1024 };
static struct start_effects* buckets_[bucket_count];
static struct start_effects* current_;

static struct start_effects** get_bucket(uintptr_t request) {
    return &buckets_[((uint64_t)request * 0x9E3779B97F4A7C15u) >> 54];
}

static void add_effect(struct effect effect) {
    if (current_->count == current_->capacity) {
        const int capacity = current_->capacity == 0 ? 1 : 2 * current_->capacity;
        struct effect* effects = realloc(current_->effects, (size_t)capacity * sizeof *effects);
        if (effects == NULL) {
            ++record_lost;
            return;
        }
        current_->effects = effects;
        current_->capacity = capacity;
    }
    current_->effects[current_->count++] = effect;
}

void add_transfer(enum transfer_kind kind, int peer, int64_t bytes) {
    if (peer < 0) {
        ++record_lost;  // spawned or connected later: not a part of this world
    } else if (current_ == NULL) {
        count_messages(kind, peer, bytes, 1);
    } else {
        add_effect((struct effect){false, (int)kind, peer, 0, bytes});
    }
}

void add_collective(enum operation operation, uint64_t communicator, int root, int64_t bytes) {
    if (communicator == 0)
        ++record_lost;
    else if (current_ == NULL)
        count_collective(operation, communicator, root, bytes);
    else
        add_effect((struct effect){true, (int)operation, root, communicator, bytes});
}

static struct start_effects** find_effects(MPI_Request request) {
    struct start_effects** link = get_bucket((uintptr_t)request);
    while (*link != NULL && (*link)->request != (uintptr_t)request) link = &(*link)->next;
    return link;
}

void begin_persistent_init(void) { current_ = calloc(1, sizeof *current_); }

void end_persistent_init(MPI_Request request) {
    struct start_effects* found = current_;
    current_ = NULL;
    if (found == NULL) return;
    drop_request(request);
    found->request = (uintptr_t)request;
    found->next = *get_bucket(found->request);
    *get_bucket(found->request) = found;
}

void record_request_start(MPI_Request request) {
    const struct start_effects* found = *find_effects(request);
    for (int i = 0; found != NULL && i < found->count; ++i) {
        const struct effect* effect = &found->effects[i];
        if (effect->is_collective)
            count_collective((enum operation)effect->what, effect->communicator, effect->peer, effect->bytes);
        else
            count_messages((enum transfer_kind)effect->what, effect->peer, effect->bytes, 1);
    }
}

void drop_request(MPI_Request request) {
    struct start_effects** link = find_effects(request);
    struct start_effects* found = *link;
    if (found == NULL) return;
    *link = found->next;
    free(found->effects);
    free(found);
}
