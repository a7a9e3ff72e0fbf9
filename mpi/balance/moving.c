// SPDX-License-Identifier: BSD-3-Clause
// Moves tasks. Receivers say whether they have room, and only then tasks are sent, so that none is lost.
#include "moving.h"

#include <limits.h>
#include <stdlib.h>

// A message travels in parts, so that MPI's int counts bytes.
enum { part_bytes = 1 << 30 };

static MPI_Comm comm_of(const struct topoloom_tasks_moving* moving) { return moving->plan->state->own; }

static void keep_status(struct topoloom_tasks_moving* moving, int status) {
    if (moving->status == MPI_SUCCESS) moving->status = status;
}

long long sum_sizes(const long long* sizes, long long count) {
    long long sum = 0;
    for (long long i = 0; i < count; ++i)
        sum = sizes[i] < 0 || sizes[i] > LLONG_MAX - sum ? LLONG_MAX : sum + sizes[i];
    return sum;
}

static bool grow(struct topoloom_tasks_moving* moving) {
    const size_t most = 2 * (size_t)moving->most + 8;
    void* requests = realloc(moving->requests, most * sizeof *moving->requests);
    if (requests != NULL) moving->requests = requests;
    void* events = realloc(moving->events, most * sizeof *moving->events);
    if (events != NULL) moving->events = events;
    void* indices = realloc(moving->indices, most * sizeof *moving->indices);
    if (indices != NULL) moving->indices = indices;
    void* statuses = realloc(moving->statuses, most * sizeof *moving->statuses);
    if (statuses != NULL) moving->statuses = statuses;
    if (requests == NULL || events == NULL || indices == NULL || statuses == NULL) return false;
    moving->most = (int)most;
    return true;
}

/// Starts to send or receive, unless there is no memory for the request.
static void post(struct topoloom_tasks_moving* moving, struct event event, void* data, int count,
                 MPI_Datatype type) {
    if (moving->open == moving->most && !grow(moving)) {
        keep_status(moving, MPI_ERR_NO_MEM);
        return;
    }
    const bool is_source = event.kind == sizes_came || event.kind == room_sent || event.kind == part_came;
    const bool sends = event.kind == sizes_sent || event.kind == room_sent || event.kind == part_sent;
    const int rank = (is_source ? moving->from : moving->to)[event.side].rank;
    const int tag = moving->tag + (event.kind <= sizes_came  ? size_tag
                                   : event.kind <= room_said ? room_tag
                                                             : task_tag);
    MPI_Request* request = &moving->requests[moving->open];
    moving->events[moving->open++] = event;
    *request = MPI_REQUEST_NULL;
    keep_status(moving, sends ? PMPI_Isend(data, count, type, rank, tag, comm_of(moving), request)
                              : PMPI_Irecv(data, count, type, rank, tag, comm_of(moving), request));
}

/// Without bytes there is one part, which is empty.
static void post_parts(struct topoloom_tasks_moving* moving, enum event_kind kind, int side, char* data,
                       long long bytes) {
    long long at = 0;
    do {
        const long long left = bytes - at;
        const int length = left < part_bytes ? (int)left : part_bytes;
        post(moving, (struct event){kind, side, at == 0}, data == NULL ? NULL : data + at, length, MPI_BYTE);
        ++(kind == part_sent ? moving->to : moving->from)[side].open_parts;
        at += length;
    } while (at < bytes);
}

/// What is here if receivers keep to what they have said, and all comes; or beside all that was there before.
static void count_held(const struct topoloom_tasks_moving* moving, long long* tasks, long long* bytes) {
    const topoloom_plan* plan = &moving->plan->front;
    *tasks = plan->kept;
    *bytes = moving->kept_bytes;
    for (int i = 0; i < plan->to_count; ++i) {
        if (moving->to[i].has_room && !moving->plan->is_given && !moving->is_unasked) continue;
        *tasks += moving->to[i].tasks;
        *bytes += moving->to[i].bytes;
    }
}

bool fits(const struct topoloom_tasks_moving* moving) {
    const topoloom_plan* plan = &moving->plan->front;
    long long tasks = 0, bytes = 0;
    count_held(moving, &tasks, &bytes);
    for (int i = 0; i < plan->from_count; ++i) {
        const struct side* side = &moving->from[i];
        if (side->tasks > moving->room - tasks || side->bytes > moving->byte_room - bytes) return false;
        tasks += side->tasks;
        bytes += side->bytes;
    }
    return true;
}

/// Where tasks leave, those that come wait elsewhere.
static bool find_place(struct topoloom_tasks_moving* moving) {
    const topoloom_plan* plan = &moving->plan->front;
    long long bytes = 0;
    for (int i = 0; i < plan->from_count; ++i) bytes += moving->from[i].bytes;
    if (plan->to_count > 0 && bytes > 0) {
        moving->arrived = malloc((size_t)bytes);
        if (moving->arrived == NULL) return false;
    }
    char* at = moving->arrived != NULL ? moving->arrived : moving->tasks + moving->kept_bytes;
    for (int i = 0; i < plan->from_count; ++i) {
        moving->from[i].data = at;
        at += moving->from[i].bytes;
    }
    return true;
}

static int what_it_takes(const struct topoloom_tasks_moving* moving) {
    return moving->task_bytes == 0 ? 1 : (int)moving->task_bytes;
}

/// Answers sources once it is known what comes; where room is tight, not before it is known what stays, but in a circle all
/// would wait for that.
static void answer_sources(struct topoloom_tasks_moving* moving) {
    const topoloom_plan* plan = &moving->plan->front;
    if (moving->is_answered || moving->unknown > 0) return;
    const bool has_room = moving->fault == NULL && fits(moving);
    if (!has_room && moving->fault == NULL && moving->unasked > 0 && !moving->plan->is_given) return;
    moving->is_answered = true;
    moving->has_room = has_room && find_place(moving);
    for (int i = 0; i < plan->from_count; ++i) {
        struct side* side = &moving->from[i];
        side->takes = moving->has_room ? what_it_takes(moving) : 0;
        if (moving->has_room) post_parts(moving, part_came, i, side->data, side->bytes);
        post(moving, (struct event){room_sent, i, false}, &side->takes, 1, MPI_INT);
    }
}

/// Tasks come behind all that are there before, which leave at once.
static void start_unasked(struct topoloom_tasks_moving* moving) {
    const topoloom_plan* plan = &moving->plan->front;
    char* at = moving->tasks + moving->bytes;
    moving->is_answered = moving->has_room = true;
    for (int i = 0; i < plan->from_count; ++i) {
        struct side* side = &moving->from[i];
        side->data = at;
        post_parts(moving, part_came, i, at, side->bytes);
        at += side->bytes;
    }
    for (int i = 0; i < plan->to_count; ++i) {
        struct side* side = &moving->to[i];
        side->has_room = true;
        // Empty: nothing is handed over.
        post_parts(moving, part_sent, i, side->data, moving->fault == NULL ? side->bytes : 0);
    }
}

void start_moving(struct topoloom_tasks_moving* moving) {
    if (moving->is_unasked) {
        start_unasked(moving);
        return;
    }
    const topoloom_plan* plan = &moving->plan->front;
    const bool is_sized = moving->task_bytes == 0;
    for (int i = 0; is_sized && i < plan->from_count; ++i)
        post(moving, (struct event){sizes_came, i, false}, moving->from[i].sizes, (int)moving->from[i].tasks,
             MPI_LONG_LONG);
    for (int i = 0; i < plan->to_count; ++i) {
        struct side* side = &moving->to[i];
        // Without sizes nothing is handed over.
        if (is_sized)
            post(moving, (struct event){sizes_sent, i, false}, side->sizes,
                 moving->fault == NULL ? (int)side->tasks : 0, MPI_LONG_LONG);
        post(moving, (struct event){room_said, i, false}, &side->takes, 1, MPI_INT);
    }
    answer_sources(moving);
}

static void handle(struct topoloom_tasks_moving* moving, struct event event, const MPI_Status* status) {
    int count = 0;
    struct side* side = &(event.kind == room_said ? moving->to : moving->from)[event.side];
    switch (event.kind) {
        case sizes_came:
            PMPI_Get_count(status, MPI_LONG_LONG, &count);
            side->moves = count > 0;
            if (count == 0) side->tasks = 0;
            side->bytes = sum_sizes(side->sizes, side->tasks);
            --moving->unknown;
            break;
        case room_said:
            --moving->unasked;
            side->has_room = side->takes == what_it_takes(moving);
            // Empty: nothing is handed over.
            if (side->takes != 0)
                post_parts(moving, part_sent, event.side, side->data,
                           side->has_room && moving->fault == NULL ? side->bytes : 0);
            break;
        case part_sent:
            --moving->to[event.side].open_parts;
            break;
        case part_came:
            --side->open_parts;
            if (!event.is_first || moving->task_bytes == 0) break;
            PMPI_Get_count(status, MPI_BYTE, &count);
            side->moves = count > 0;
            break;
        default:
            break;
    }
    answer_sources(moving);
}

static void drop_complete(struct topoloom_tasks_moving* moving) {
    int kept = 0;
    for (int i = 0; i < moving->open; ++i) {
        if (moving->requests[i] == MPI_REQUEST_NULL) continue;
        moving->requests[kept] = moving->requests[i];
        moving->events[kept++] = moving->events[i];
    }
    moving->open = kept;
}

/// Receives nothing more, so that tasks may be put in order. What is being sent cannot be taken back, and stays open.
static void give_up(struct topoloom_tasks_moving* moving) {
    moving->is_given_up = true;
    for (int i = 0; i < moving->open; ++i) {
        const struct event event = moving->events[i];
        const bool is_source = event.kind == sizes_came || event.kind == room_sent || event.kind == part_came;
        struct side* side = &(is_source ? moving->from : moving->to)[event.side];
        if (moving->requests[i] == MPI_REQUEST_NULL) continue;
        side->is_silent = true;
        if (event.kind != sizes_came && event.kind != room_said && event.kind != part_came) continue;
        MPI_Status status;
        int is_cancelled = 0;
        PMPI_Cancel(&moving->requests[i]);
        PMPI_Wait(&moving->requests[i], &status);
        PMPI_Test_cancelled(&status, &is_cancelled);
        // Tasks that have just come are no longer at their source; for another answer it is too late.
        if (event.kind == part_came && !is_cancelled) handle(moving, event, &status);
        if (event.kind == room_said) side->has_room = false;
    }
    drop_complete(moving);
}

bool step_moving(struct topoloom_tasks_moving* moving, bool waits) {
    int count = 0;
    if (moving->open == 0 || moving->is_given_up || moving->status != MPI_SUCCESS) return true;
    const bool blocks = waits && moving->plan->patience == 0;
    keep_status(moving, (blocks ? PMPI_Waitsome : PMPI_Testsome)(moving->open, moving->requests, &count,
                                                                 moving->indices, moving->statuses));
    if (moving->status != MPI_SUCCESS || count == MPI_UNDEFINED) return true;
    if (lost_patience(moving, count > 0)) {
        give_up(moving);
        return true;
    }
    // What is posted meanwhile may move the arrays, but not the places in them.
    for (int i = 0; i < count; ++i) {
        const MPI_Status status = moving->statuses[i];
        handle(moving, moving->events[moving->indices[i]], &status);
    }
    drop_complete(moving);
    return moving->open == 0;
}
