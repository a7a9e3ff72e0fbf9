// SPDX-License-Identifier: BSD-3-Clause
// Moves tasks. A task is sent only after the receiver has confirmed its capacity, so that no task is lost.
#include "transfers.h"

#include <limits.h>
#include <stdlib.h>

// Messages are split into parts, because MPI counts bytes in an int.
enum { part_bytes = 1 << 30 };

static MPI_Comm get_comm(const struct topoloom_exchange_state* exchange) {
    return exchange->plan->state->own;
}

static void record_first_error(struct topoloom_exchange_state* exchange, int status) {
    if (exchange->status == MPI_SUCCESS) exchange->status = status;
}

long long sum_task_sizes(const long long* sizes, long long count) {
    long long sum = 0;
    for (long long i = 0; i < count; ++i)
        sum = sizes[i] < 0 || sizes[i] > LLONG_MAX - sum ? LLONG_MAX : sum + sizes[i];
    return sum;
}

static bool grow_request_arrays(struct topoloom_exchange_state* exchange) {
    const size_t most = 2 * (size_t)exchange->request_capacity + 8;
    void* requests = realloc(exchange->requests, most * sizeof *exchange->requests);
    if (requests != NULL) exchange->requests = requests;
    void* events = realloc(exchange->events, most * sizeof *exchange->events);
    if (events != NULL) exchange->events = events;
    void* indices = realloc(exchange->indices, most * sizeof *exchange->indices);
    if (indices != NULL) exchange->indices = indices;
    void* statuses = realloc(exchange->statuses, most * sizeof *exchange->statuses);
    if (statuses != NULL) exchange->statuses = statuses;
    if (requests == NULL || events == NULL || indices == NULL || statuses == NULL) return false;
    exchange->request_capacity = (int)most;
    return true;
}

/// Returns the transfer of an event.
static struct transfer* get_transfer(struct topoloom_exchange_state* exchange, struct request_event event) {
    const bool is_from =
        event.kind == sizes_received || event.kind == reply_sent || event.kind == part_received;
    return &(is_from ? exchange->from : exchange->to)[event.transfer];
}

/// Posts a send or a receive.
static void post_request(struct topoloom_exchange_state* exchange, struct request_event event, void* data,
                         int count, MPI_Datatype type) {
    if (exchange->request_count == exchange->request_capacity && !grow_request_arrays(exchange)) {
        record_first_error(exchange, MPI_ERR_NO_MEM);
        return;
    }
    const bool sends = event.kind == sizes_sent || event.kind == reply_sent || event.kind == part_sent;
    const int rank = get_transfer(exchange, event)->rank;
    const int tag = exchange->tag + (event.kind <= sizes_received   ? size_tag
                                     : event.kind <= reply_received ? reply_tag
                                                                    : task_tag);
    MPI_Request* request = &exchange->requests[exchange->request_count];
    exchange->events[exchange->request_count++] = event;
    *request = MPI_REQUEST_NULL;
    record_first_error(exchange, sends
                                     ? PMPI_Isend(data, count, type, rank, tag, get_comm(exchange), request)
                                     : PMPI_Irecv(data, count, type, rank, tag, get_comm(exchange), request));
}

/// Posts the parts of a transfer. A transfer of 0 bytes has one empty part.
static void post_parts(struct topoloom_exchange_state* exchange, enum event_kind kind, int number, char* data,
                       long long bytes) {
    long long at = 0;
    do {
        const long long left = bytes - at;
        const int length = left < part_bytes ? (int)left : part_bytes;
        const struct request_event event = {kind, number, at == 0};
        post_request(exchange, event, data == NULL ? NULL : data + at, length, MPI_BYTE);
        ++get_transfer(exchange, event)->open_parts;
        at += length;
    } while (at < bytes);
}

/// Counts the tasks that occupy memory while tasks arrive: all present tasks if the plan may contain cycles or capacity
/// is reserved, otherwise the kept tasks and those that receivers have not accepted.
static void count_remaining_tasks(const struct topoloom_exchange_state* exchange, long long* tasks,
                                  long long* bytes) {
    const topoloom_plan* plan = &exchange->plan->shares;
    *tasks = plan->kept;
    *bytes = exchange->kept_bytes;
    for (int i = 0; i < plan->to_count; ++i) {
        if (exchange->to[i].is_accepted && !exchange->plan->is_user_defined && !exchange->is_reserved)
            continue;
        *tasks += exchange->to[i].tasks;
        *bytes += exchange->to[i].bytes;
    }
}

bool fits_capacity(const struct topoloom_exchange_state* exchange) {
    const topoloom_plan* plan = &exchange->plan->shares;
    long long tasks = 0, bytes = 0;
    count_remaining_tasks(exchange, &tasks, &bytes);
    for (int i = 0; i < plan->from_count; ++i) {
        const struct transfer* transfer = &exchange->from[i];
        if (transfer->tasks > exchange->capacity - tasks || transfer->bytes > exchange->byte_capacity - bytes)
            return false;
        tasks += transfer->tasks;
        bytes += transfer->bytes;
    }
    return true;
}

/// Assigns memory to received tasks: a separate buffer while other tasks are still being sent. Returns false if memory
/// is exhausted.
static bool assign_memory(struct topoloom_exchange_state* exchange) {
    const topoloom_plan* plan = &exchange->plan->shares;
    long long bytes = 0;
    for (int i = 0; i < plan->from_count; ++i) bytes += exchange->from[i].bytes;
    if (plan->to_count > 0 && bytes > 0) {
        exchange->arrived = malloc((size_t)bytes);
        if (exchange->arrived == NULL) return false;
    }
    char* at = exchange->arrived != NULL ? exchange->arrived : exchange->tasks + exchange->kept_bytes;
    for (int i = 0; i < plan->from_count; ++i) {
        exchange->from[i].data = at;
        at += exchange->from[i].bytes;
    }
    return true;
}

static int get_accepted_task_bytes(const struct topoloom_exchange_state* exchange) {
    return exchange->task_bytes == 0 ? 1 : (int)exchange->task_bytes;
}

/// Replies to sources once it is certain whether their tasks fit. If capacity is scarce, this depends on the replies of
/// receivers. In a plan with cycles, ranks would then deadlock.
static void reply_to_sources(struct topoloom_exchange_state* exchange) {
    const topoloom_plan* plan = &exchange->plan->shares;
    if (exchange->has_replied || exchange->unknown_sizes > 0) return;
    const bool fits = exchange->fault == NULL && fits_capacity(exchange);
    const bool may_wait = exchange->awaited_replies > 0 && !exchange->plan->is_user_defined;
    if (!fits && exchange->fault == NULL && may_wait) return;
    exchange->has_replied = true;
    exchange->is_accepted = fits && assign_memory(exchange);
    for (int i = 0; i < plan->from_count; ++i) {
        struct transfer* transfer = &exchange->from[i];
        transfer->accepted_bytes = exchange->is_accepted ? get_accepted_task_bytes(exchange) : 0;
        if (exchange->is_accepted) post_parts(exchange, part_received, i, transfer->data, transfer->bytes);
        post_request(exchange, (struct request_event){reply_sent, i, false}, &transfer->accepted_bytes, 1,
                     MPI_INT);
    }
}

/// Starts an exchange without replies: sends tasks at once, and receives tasks behind all present tasks.
static void start_without_replies(struct topoloom_exchange_state* exchange) {
    const topoloom_plan* plan = &exchange->plan->shares;
    char* at = exchange->tasks + exchange->bytes;
    exchange->has_replied = exchange->is_accepted = true;
    for (int i = 0; i < plan->from_count; ++i) {
        struct transfer* transfer = &exchange->from[i];
        transfer->data = at;
        post_parts(exchange, part_received, i, at, transfer->bytes);
        at += transfer->bytes;
    }
    for (int i = 0; i < plan->to_count; ++i) {
        struct transfer* transfer = &exchange->to[i];
        transfer->is_accepted = true;
        // An empty part signals that no tasks are sent.
        post_parts(exchange, part_sent, i, transfer->data, exchange->fault == NULL ? transfer->bytes : 0);
    }
}

void start_transfers(struct topoloom_exchange_state* exchange) {
    if (exchange->is_reserved) {
        start_without_replies(exchange);
        return;
    }
    const topoloom_plan* plan = &exchange->plan->shares;
    const bool is_sized = exchange->task_bytes == 0;
    for (int i = 0; is_sized && i < plan->from_count; ++i)
        post_request(exchange, (struct request_event){sizes_received, i, false}, exchange->from[i].sizes,
                     (int)exchange->from[i].tasks, MPI_LONG_LONG);
    for (int i = 0; i < plan->to_count; ++i) {
        struct transfer* transfer = &exchange->to[i];
        // An empty list of sizes signals that no tasks are sent.
        if (is_sized)
            post_request(exchange, (struct request_event){sizes_sent, i, false}, transfer->sizes,
                         exchange->fault == NULL ? (int)transfer->tasks : 0, MPI_LONG_LONG);
        post_request(exchange, (struct request_event){reply_received, i, false}, &transfer->accepted_bytes, 1,
                     MPI_INT);
    }
    reply_to_sources(exchange);
}

static void process_event(struct topoloom_exchange_state* exchange, struct request_event event,
                          const MPI_Status* status) {
    int count = 0;
    struct transfer* transfer = get_transfer(exchange, event);
    switch (event.kind) {
        case sizes_received:
            PMPI_Get_count(status, MPI_LONG_LONG, &count);
            transfer->is_sent = count > 0;
            if (count == 0) transfer->tasks = 0;
            transfer->bytes = sum_task_sizes(transfer->sizes, transfer->tasks);
            --exchange->unknown_sizes;
            break;
        case reply_received:
            --exchange->awaited_replies;
            transfer->is_accepted = transfer->accepted_bytes == get_accepted_task_bytes(exchange);
            if (transfer->accepted_bytes != 0)
                post_parts(exchange, part_sent, event.transfer, transfer->data,
                           transfer->is_accepted && exchange->fault == NULL ? transfer->bytes : 0);
            break;
        case part_sent:
            --transfer->open_parts;
            break;
        case part_received:
            --transfer->open_parts;
            if (!event.is_first || exchange->task_bytes == 0) break;
            PMPI_Get_count(status, MPI_BYTE, &count);
            transfer->is_sent = count > 0;
            break;
        default:
            break;
    }
    reply_to_sources(exchange);
}

static void remove_complete_requests(struct topoloom_exchange_state* exchange) {
    int kept = 0;
    for (int i = 0; i < exchange->request_count; ++i) {
        if (exchange->requests[i] == MPI_REQUEST_NULL) continue;
        exchange->requests[kept] = exchange->requests[i];
        exchange->events[kept++] = exchange->events[i];
    }
    exchange->request_count = kept;
}

/// Cancels all receives, so that tasks can be arranged. Sends cannot be cancelled and remain pending.
static void cancel_transfers(struct topoloom_exchange_state* exchange) {
    exchange->is_cancelled = true;
    for (int i = 0; i < exchange->request_count; ++i) {
        const struct request_event event = exchange->events[i];
        struct transfer* transfer = get_transfer(exchange, event);
        if (exchange->requests[i] == MPI_REQUEST_NULL) continue;
        transfer->has_stalled = true;
        if (event.kind != sizes_received && event.kind != reply_received && event.kind != part_received)
            continue;
        MPI_Status status;
        int is_cancelled = 0;
        PMPI_Cancel(&exchange->requests[i]);
        PMPI_Wait(&exchange->requests[i], &status);
        PMPI_Test_cancelled(&status, &is_cancelled);
        // If tasks have just arrived, their source no longer has them. Replies that arrive now are ignored.
        if (event.kind == part_received && !is_cancelled) process_event(exchange, event, &status);
        if (event.kind == reply_received) transfer->is_accepted = false;
    }
    remove_complete_requests(exchange);
}

bool advance_transfers(struct topoloom_exchange_state* exchange, bool waits) {
    int count = 0;
    if (exchange->request_count == 0 || exchange->is_cancelled || exchange->status != MPI_SUCCESS)
        return true;
    const bool blocks = waits && exchange->plan->stall_timeout == 0;
    const int status = (blocks ? PMPI_Waitsome : PMPI_Testsome)(
        exchange->request_count, exchange->requests, &count, exchange->indices, exchange->statuses);
    record_first_error(exchange, status);
    if (exchange->status != MPI_SUCCESS || count == MPI_UNDEFINED) return true;
    if (update_stall_timer(exchange, count > 0)) {
        cancel_transfers(exchange);
        return true;
    }
    // Posting requests may reallocate the arrays, but preserves their order.
    for (int i = 0; i < count; ++i) {
        const MPI_Status completed = exchange->statuses[i];
        process_event(exchange, exchange->events[exchange->indices[i]], &completed);
    }
    remove_complete_requests(exchange);
    return exchange->request_count == 0;
}
