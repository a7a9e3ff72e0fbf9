// SPDX-License-Identifier: BSD-3-Clause
// Moves tasks. They are sent only after the receiver has replied that it has capacity, so that none is lost.
#include "transfers.h"

#include <limits.h>
#include <stdlib.h>

// A message is split into parts, as MPI counts bytes by an int.
enum { part_bytes = 1 << 30 };

static MPI_Comm comm_of(const struct topoloom_exchange_state* exchange) { return exchange->plan->state->own; }

static void record_first_error(struct topoloom_exchange_state* exchange, int status) {
    if (exchange->status == MPI_SUCCESS) exchange->status = status;
}

long long sum_sizes(const long long* sizes, long long count) {
    long long sum = 0;
    for (long long i = 0; i < count; ++i)
        sum = sizes[i] < 0 || sizes[i] > LLONG_MAX - sum ? LLONG_MAX : sum + sizes[i];
    return sum;
}

static bool grow(struct topoloom_exchange_state* exchange) {
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

/// The transfer of an event.
static struct transfer* transfer_of(struct topoloom_exchange_state* exchange, struct event event) {
    const bool is_from =
        event.kind == sizes_received || event.kind == reply_sent || event.kind == part_received;
    return &(is_from ? exchange->from : exchange->to)[event.transfer];
}

/// Starts to send or receive.
static void post(struct topoloom_exchange_state* exchange, struct event event, void* data, int count,
                 MPI_Datatype type) {
    if (exchange->request_count == exchange->request_capacity && !grow(exchange)) {
        record_first_error(exchange, MPI_ERR_NO_MEM);
        return;
    }
    const bool sends = event.kind == sizes_sent || event.kind == reply_sent || event.kind == part_sent;
    const int rank = transfer_of(exchange, event)->rank;
    const int tag = exchange->tag + (event.kind <= sizes_received   ? size_tag
                                     : event.kind <= reply_received ? reply_tag
                                                                    : task_tag);
    MPI_Request* request = &exchange->requests[exchange->request_count];
    exchange->events[exchange->request_count++] = event;
    *request = MPI_REQUEST_NULL;
    record_first_error(exchange, sends
                                     ? PMPI_Isend(data, count, type, rank, tag, comm_of(exchange), request)
                                     : PMPI_Irecv(data, count, type, rank, tag, comm_of(exchange), request));
}

/// Posts the parts of a transfer; one empty part if there are no bytes.
static void post_parts(struct topoloom_exchange_state* exchange, enum event_kind kind, int number, char* data,
                       long long bytes) {
    long long at = 0;
    do {
        const long long left = bytes - at;
        const int length = left < part_bytes ? (int)left : part_bytes;
        const struct event event = {kind, number, at == 0};
        post(exchange, event, data == NULL ? NULL : data + at, length, MPI_BYTE);
        ++transfer_of(exchange, event)->open_parts;
        at += length;
    } while (at < bytes);
}

/// Counts what stays here while tasks arrive: all present tasks if the plan may contain cycles or capacity is reserved, else
/// those that receivers have not accepted.
static void count_staying(const struct topoloom_exchange_state* exchange, long long* tasks,
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
    count_staying(exchange, &tasks, &bytes);
    for (int i = 0; i < plan->from_count; ++i) {
        const struct transfer* transfer = &exchange->from[i];
        if (transfer->tasks > exchange->capacity - tasks || transfer->bytes > exchange->byte_capacity - bytes)
            return false;
        tasks += transfer->tasks;
        bytes += transfer->bytes;
    }
    return true;
}

/// Assigns memory to received tasks: a separate buffer if others still leave. False: not enough memory.
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

static int accepted_task_bytes(const struct topoloom_exchange_state* exchange) {
    return exchange->task_bytes == 0 ? 1 : (int)exchange->task_bytes;
}

/// Replies to sources as soon as it is known whether their tasks fit. Without capacity for all cases, that depends on replies of
/// receivers; in a plan with cycles all ranks would then wait for each other.
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
        transfer->accepted_bytes = exchange->is_accepted ? accepted_task_bytes(exchange) : 0;
        if (exchange->is_accepted) post_parts(exchange, part_received, i, transfer->data, transfer->bytes);
        post(exchange, (struct event){reply_sent, i, false}, &transfer->accepted_bytes, 1, MPI_INT);
    }
}

/// Starts without replies: received tasks are placed after all present ones, which leave at once.
static void start_reserved(struct topoloom_exchange_state* exchange) {
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
        // An empty part tells the receiver that nothing is sent.
        post_parts(exchange, part_sent, i, transfer->data, exchange->fault == NULL ? transfer->bytes : 0);
    }
}

void start_transfers(struct topoloom_exchange_state* exchange) {
    if (exchange->is_reserved) {
        start_reserved(exchange);
        return;
    }
    const topoloom_plan* plan = &exchange->plan->shares;
    const bool is_sized = exchange->task_bytes == 0;
    for (int i = 0; is_sized && i < plan->from_count; ++i)
        post(exchange, (struct event){sizes_received, i, false}, exchange->from[i].sizes,
             (int)exchange->from[i].tasks, MPI_LONG_LONG);
    for (int i = 0; i < plan->to_count; ++i) {
        struct transfer* transfer = &exchange->to[i];
        // No sizes tell the receiver that nothing is sent.
        if (is_sized)
            post(exchange, (struct event){sizes_sent, i, false}, transfer->sizes,
                 exchange->fault == NULL ? (int)transfer->tasks : 0, MPI_LONG_LONG);
        post(exchange, (struct event){reply_received, i, false}, &transfer->accepted_bytes, 1, MPI_INT);
    }
    reply_to_sources(exchange);
}

static void handle_event(struct topoloom_exchange_state* exchange, struct event event,
                         const MPI_Status* status) {
    int count = 0;
    struct transfer* transfer = transfer_of(exchange, event);
    switch (event.kind) {
        case sizes_received:
            PMPI_Get_count(status, MPI_LONG_LONG, &count);
            transfer->is_sent = count > 0;
            if (count == 0) transfer->tasks = 0;
            transfer->bytes = sum_sizes(transfer->sizes, transfer->tasks);
            --exchange->unknown_sizes;
            break;
        case reply_received:
            --exchange->awaited_replies;
            transfer->is_accepted = transfer->accepted_bytes == accepted_task_bytes(exchange);
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

static void remove_complete(struct topoloom_exchange_state* exchange) {
    int kept = 0;
    for (int i = 0; i < exchange->request_count; ++i) {
        if (exchange->requests[i] == MPI_REQUEST_NULL) continue;
        exchange->requests[kept] = exchange->requests[i];
        exchange->events[kept++] = exchange->events[i];
    }
    exchange->request_count = kept;
}

/// Cancels all receives, so that tasks can be arranged. Sends cannot be cancelled and stay open.
static void cancel_transfers(struct topoloom_exchange_state* exchange) {
    exchange->is_cancelled = true;
    for (int i = 0; i < exchange->request_count; ++i) {
        const struct event event = exchange->events[i];
        struct transfer* transfer = transfer_of(exchange, event);
        if (exchange->requests[i] == MPI_REQUEST_NULL) continue;
        transfer->has_stalled = true;
        if (event.kind != sizes_received && event.kind != reply_received && event.kind != part_received)
            continue;
        MPI_Status status;
        int is_cancelled = 0;
        PMPI_Cancel(&exchange->requests[i]);
        PMPI_Wait(&exchange->requests[i], &status);
        PMPI_Test_cancelled(&status, &is_cancelled);
        // Tasks that have just arrived are no longer at their source. A reply is too late.
        if (event.kind == part_received && !is_cancelled) handle_event(exchange, event, &status);
        if (event.kind == reply_received) transfer->is_accepted = false;
    }
    remove_complete(exchange);
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
    if (update_stall(exchange, count > 0)) {
        cancel_transfers(exchange);
        return true;
    }
    // New posts may reallocate the arrays, but keep their order.
    for (int i = 0; i < count; ++i) {
        const MPI_Status completed = exchange->statuses[i];
        handle_event(exchange, exchange->events[exchange->indices[i]], &completed);
    }
    remove_complete(exchange);
    return exchange->request_count == 0;
}
