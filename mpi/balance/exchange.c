// SPDX-License-Identifier: BSD-3-Clause
// Public functions of exchanges; they also arrange the tasks at the end of an exchange.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "abort_message.h"
#include "errors.h"
#include "transfers.h"

/// Returns a description of an invalid argument, or NULL if all arguments are valid.
static const char* find_invalid_argument(struct topoloom_exchange_state* exchange) {
    const topoloom_plan* plan = &exchange->plan->shares;
    const bool is_sized = exchange->task_bytes == 0, is_idle = plan->before == 0 && plan->after == 0;
    if (exchange->task_bytes < 0) return "task_bytes is not positive";
    if (exchange->capacity < 0 || exchange->byte_capacity < 0)
        return "the capacity is negative, or 2^63 bytes or more";
    if (exchange->tasks == NULL && !is_idle) return "the tasks are NULL";
    if (is_sized && exchange->sizes == NULL && !is_idle) return "the sizes are NULL";
    if (plan->before > exchange->capacity) return "the capacity is below the present number of tasks";
    // MPI counts the sizes in a message by an int, which limits their number.
    for (int i = 0; is_sized && i < plan->to_count + plan->from_count; ++i) {
        const bool is_to = i < plan->to_count;
        if ((is_to ? plan->tasks_to[i] : plan->tasks_from[i - plan->to_count]) > INT_MAX)
            return "at most 2^31 - 1 sized tasks can move between two ranks";
    }
    for (long long i = 0; is_sized && i < plan->before; ++i)
        if (exchange->sizes[i] < 0) return "a size is negative";
    exchange->bytes =
        is_sized ? sum_task_sizes(exchange->sizes, plan->before) : plan->before * exchange->task_bytes;
    exchange->kept_bytes =
        is_sized ? sum_task_sizes(exchange->sizes, plan->kept) : plan->kept * exchange->task_bytes;
    return exchange->bytes > exchange->byte_capacity
               ? "the byte capacity is below the bytes of the present tasks"
               : NULL;
}

/// Lists the transfers. The last tasks of the array are sent, in the order of receivers. Returns false if
/// memory is exhausted.
static bool list_transfers(struct topoloom_exchange_state* exchange) {
    const topoloom_plan* plan = &exchange->plan->shares;
    const bool is_sized = exchange->task_bytes == 0;
    const long long coming = plan->after - plan->kept;
    exchange->to = calloc((size_t)plan->to_count + 1, sizeof *exchange->to);
    exchange->from = calloc((size_t)plan->from_count + 1, sizeof *exchange->from);
    if (is_sized) exchange->arrived_sizes = malloc((size_t)(coming + 1) * sizeof(long long));
    if (exchange->to == NULL || exchange->from == NULL || (is_sized && exchange->arrived_sizes == NULL))
        return false;
    long long first = plan->kept, bytes = exchange->kept_bytes;
    for (int i = 0; i < plan->to_count; ++i) {
        struct transfer* transfer = &exchange->to[i];
        *transfer = (struct transfer){.rank = plan->to[i], .tasks = plan->tasks_to[i]};
        if (exchange->fault != NULL) continue;
        transfer->data = exchange->tasks + bytes;
        if (is_sized) transfer->sizes = exchange->sizes + first;
        transfer->bytes = is_sized ? sum_task_sizes(transfer->sizes, transfer->tasks)
                                   : transfer->tasks * exchange->task_bytes;
        first += transfer->tasks;
        bytes += transfer->bytes;
    }
    first = 0;
    for (int i = 0; i < plan->from_count; ++i) {
        struct transfer* transfer = &exchange->from[i];
        *transfer = (struct transfer){.rank = plan->from[i], .tasks = plan->tasks_from[i]};
        const bool overflows =
            !is_sized && exchange->task_bytes > 0 && transfer->tasks > LLONG_MAX / exchange->task_bytes;
        if (is_sized) transfer->sizes = exchange->arrived_sizes + first;
        transfer->bytes = overflows ? LLONG_MAX : transfer->tasks * exchange->task_bytes;
        first += transfer->tasks;
    }
    exchange->awaited_replies = plan->to_count;
    exchange->unknown_sizes = is_sized ? plan->from_count : 0;
    return true;
}

static void free_exchange(struct topoloom_exchange_state* exchange) {
    if (exchange->request_count > 0) return;  // requests are pending, so MPI may still access the memory
    free(exchange->to);
    free(exchange->from);
    free(exchange->arrived);
    free(exchange->arrived_sizes);
    free(exchange->requests);
    free(exchange->events);
    free(exchange->indices);
    free(exchange->statuses);
    free(exchange);
}

/// Aborts the program: senders do not wait for replies, so tasks sent to this rank would be lost.
static void abort_over_capacity(const struct topoloom_exchange_state* exchange) {
    const topoloom_plan* plan = &exchange->plan->shares;
    const char* reason = exchange->fault != NULL ? exchange->fault : "its capacity is lower";
    print_before_abort(
        "topoloom: topoloom_exchange: rank %d has reserved capacity for %lld tasks and receives %lld, but "
        "%s\n",
        exchange->plan->state->rank, plan->before + plan->after - plan->kept, plan->after - plan->kept,
        reason);
    PMPI_Abort(exchange->plan->state->own, MPI_ERR_TRUNCATE);
}

static int start_exchange(struct topoloom_exchange_state initial_state, topoloom_exchange_request* request) {
    struct plan* plan = initial_state.plan;
    clear_error_message();
    if (plan == NULL) return raise_error(MPI_COMM_WORLD, MPI_ERR_ARG, "exchange", "the plan is NULL");
    struct topoloom_exchange_state* created = malloc(sizeof *created);
    if (created == NULL)
        return raise_error(plan->state->own, MPI_ERR_NO_MEM, "exchange", "not enough memory");
    *created = initial_state;
    created->tag = decision_tags + exchange_tags * (exchanges_at_once * (plan->number % plans_at_once) +
                                                    plan->exchanges % exchanges_at_once);
    created->is_reserved = plan->reserve_capacity && created->task_bytes != 0;
    created->fault = find_invalid_argument(created);
    if (!list_transfers(created)) {
        free_exchange(created);
        return raise_error(plan->state->own, MPI_ERR_NO_MEM, "exchange", "not enough memory");
    }
    if (created->is_reserved && plan->shares.from_count > 0 &&
        (created->fault != NULL || !fits_capacity(created)))
        abort_over_capacity(created);
    ++plan->exchanges;
    start_transfers(created);
    *request = created;
    return MPI_SUCCESS;
}

int topoloom_exchange_start(topoloom_plan* plan, void* tasks, int task_bytes, long long capacity,
                            topoloom_exchange_request* request) {
    const long long bytes = task_bytes > 0 ? task_bytes : -1;
    const bool overflows = capacity < 0 || (bytes > 0 && capacity > LLONG_MAX / bytes);
    return start_exchange(
        (struct topoloom_exchange_state){.plan = (struct plan*)plan,
                                         .tasks = tasks,
                                         .task_bytes = bytes,
                                         .capacity = capacity,
                                         .byte_capacity = overflows ? -1 : capacity * bytes * (bytes > 0)},
        request);
}

int topoloom_exchange_sized_start(topoloom_plan* plan, void* tasks, long long byte_capacity, long long* sizes,
                                  long long capacity, topoloom_exchange_request* request) {
    return start_exchange((struct topoloom_exchange_state){.plan = (struct plan*)plan,
                                                           .tasks = tasks,
                                                           .sizes = sizes,
                                                           .capacity = capacity,
                                                           .byte_capacity = byte_capacity},
                          request);
}

/// Moves the tasks of a transfer behind the tasks already arranged.
static void append_tasks(struct topoloom_exchange_state* exchange, const struct transfer* transfer,
                         long long* tasks, long long* bytes) {
    memmove(exchange->tasks + *bytes, transfer->data, (size_t)transfer->bytes);
    if (exchange->task_bytes == 0)
        memmove(exchange->sizes + *tasks, transfer->sizes, (size_t)transfer->tasks * sizeof *transfer->sizes);
    *tasks += transfer->tasks;
    *bytes += transfer->bytes;
}

/// Arranges the tasks after an exchange. Returns the number of tasks on this rank.
static long long arrange_tasks(struct topoloom_exchange_state* exchange, const struct transfer** refused,
                               const struct transfer** missing) {
    const topoloom_plan* plan = &exchange->plan->shares;
    long long tasks = plan->kept, bytes = exchange->kept_bytes;
    for (int i = 0; i < plan->to_count; ++i) {
        if (exchange->to[i].is_accepted && exchange->to[i].open_parts == 0) continue;
        *refused = &exchange->to[i];
        append_tasks(exchange, &exchange->to[i], &tasks, &bytes);
    }
    for (int i = 0; i < plan->from_count; ++i) {
        if (!exchange->from[i].is_sent || exchange->from[i].open_parts > 0)
            *missing = &exchange->from[i];
        else if (exchange->is_accepted)
            append_tasks(exchange, &exchange->from[i], &tasks, &bytes);
    }
    return tasks;
}

/// Arranges the tasks, and raises an error if some were not transferred.
static int finish_exchange(struct topoloom_exchange_state* exchange, long long* held) {
    const topoloom_plan* plan = &exchange->plan->shares;
    const MPI_Comm comm = exchange->plan->state->own;
    *held = plan->before;
    if (exchange->status != MPI_SUCCESS) return exchange->status;
    if (exchange->fault != NULL) return raise_error(comm, MPI_ERR_ARG, "exchange", "%s", exchange->fault);
    const struct transfer *refused = NULL, *missing = NULL;
    *held = arrange_tasks(exchange, &refused, &missing);
    if (exchange->is_cancelled) return raise_stall(exchange);
    if (!exchange->is_accepted && plan->from_count > 0)
        return raise_error(
            comm, MPI_ERR_TRUNCATE, "exchange",
            "%lld tasks exceed the capacity of %lld, or their bytes the byte capacity",
            exchange->plan->is_user_defined ? plan->before + plan->after - plan->kept : plan->after,
            exchange->capacity);
    if (refused != NULL && refused->accepted_bytes != 0)
        return raise_error(
            comm, MPI_ERR_ARG, "exchange",
            "rank %d expects tasks of %d bytes, but those of this rank have %lld bytes, and stay here",
            refused->rank, refused->accepted_bytes, exchange->task_bytes);
    if (refused != NULL)
        return raise_error(comm, MPI_ERR_TRUNCATE, "exchange",
                           "rank %d has no capacity for %lld tasks, which stay here", refused->rank,
                           refused->tasks);
    if (missing != NULL)
        return raise_error(comm, MPI_ERR_OTHER, "exchange", "rank %d could not send its tasks",
                           missing->rank);
    return MPI_SUCCESS;
}

static int raise_null_request(void) {
    return raise_error(MPI_COMM_WORLD, MPI_ERR_ARG, "exchange",
                       "the request is NULL: no exchange was started");
}

int topoloom_exchange_test(topoloom_exchange_request request, int* done) {
    clear_error_message();
    if (request == NULL) return raise_null_request();
    *done = advance_transfers(request, false);
    return MPI_SUCCESS;
}

int topoloom_exchange_finish(topoloom_exchange_request* request, long long* held) {
    struct topoloom_exchange_state* exchange = *request;
    long long ignored = 0;
    clear_error_message();
    if (exchange == NULL) return raise_null_request();
    while (!advance_transfers(exchange, true)) {
    }
    *request = NULL;
    const int status = finish_exchange(exchange, held != NULL ? held : &ignored);
    free_exchange(exchange);
    return status;
}

int topoloom_exchange(topoloom_plan* plan, void* tasks, int task_bytes, long long capacity, long long* held) {
    topoloom_exchange_request request = NULL;
    const int status = topoloom_exchange_start(plan, tasks, task_bytes, capacity, &request);
    return status == MPI_SUCCESS ? topoloom_exchange_finish(&request, held) : status;
}

int topoloom_exchange_sized(topoloom_plan* plan, void* tasks, long long byte_capacity, long long* sizes,
                            long long capacity, long long* held) {
    topoloom_exchange_request request = NULL;
    const int status = topoloom_exchange_sized_start(plan, tasks, byte_capacity, sizes, capacity, &request);
    return status == MPI_SUCCESS ? topoloom_exchange_finish(&request, held) : status;
}
