// SPDX-License-Identifier: BSD-3-Clause
// Exchanges: what programs call, and the order in which tasks lie in the end.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "abort_message.h"
#include "errors.h"
#include "moving.h"

/// Why this rank can do nothing with what it was given; NULL: it can.
static const char* find_fault(struct topoloom_tasks_moving* moving) {
    const topoloom_plan* plan = &moving->plan->front;
    const bool is_sized = moving->task_bytes == 0, is_idle = plan->before == 0 && plan->after == 0;
    if (moving->task_bytes < 0) return "tasks have less than one byte";
    if (moving->room < 0 || moving->byte_room < 0) return "the room is negative, or 2^63 bytes and more";
    if (moving->tasks == NULL && !is_idle) return "the tasks are NULL";
    if (is_sized && moving->sizes == NULL && !is_idle) return "the sizes are NULL";
    if (plan->before > moving->room) return "there is less room than for the tasks that are there";
    // MPI's int counts the sizes in a message.
    for (int i = 0; is_sized && i < plan->to_count + plan->from_count; ++i) {
        const bool leaves = i < plan->to_count;
        if ((leaves ? plan->tasks_to[i] : plan->tasks_from[i - plan->to_count]) > INT_MAX)
            return "2^31 sized tasks and more cannot move between two ranks";
    }
    for (long long i = 0; is_sized && i < plan->before; ++i)
        if (moving->sizes[i] < 0) return "a size is negative";
    moving->bytes = is_sized ? sum_sizes(moving->sizes, plan->before) : plan->before * moving->task_bytes;
    moving->kept_bytes = is_sized ? sum_sizes(moving->sizes, plan->kept) : plan->kept * moving->task_bytes;
    return moving->bytes > moving->byte_room ? "there are fewer bytes of room than of tasks" : NULL;
}

/// Those that leave are the last ones, in the order of receivers.
static bool list_sides(struct topoloom_tasks_moving* moving) {
    const topoloom_plan* plan = &moving->plan->front;
    const bool is_sized = moving->task_bytes == 0;
    const long long coming = plan->after - plan->kept;
    moving->to = calloc((size_t)plan->to_count + 1, sizeof *moving->to);
    moving->from = calloc((size_t)plan->from_count + 1, sizeof *moving->from);
    if (is_sized) moving->arrived_sizes = malloc((size_t)(coming + 1) * sizeof(long long));
    if (moving->to == NULL || moving->from == NULL || (is_sized && moving->arrived_sizes == NULL))
        return false;
    long long first = plan->kept, bytes = moving->kept_bytes;
    for (int i = 0; i < plan->to_count; ++i) {
        struct side* side = &moving->to[i];
        *side = (struct side){.rank = plan->to[i], .tasks = plan->tasks_to[i]};
        if (moving->fault != NULL) continue;
        side->data = moving->tasks + bytes;
        if (is_sized) side->sizes = moving->sizes + first;
        side->bytes = is_sized ? sum_sizes(side->sizes, side->tasks) : side->tasks * moving->task_bytes;
        first += side->tasks;
        bytes += side->bytes;
    }
    first = 0;
    for (int i = 0; i < plan->from_count; ++i) {
        struct side* side = &moving->from[i];
        *side = (struct side){.rank = plan->from[i], .tasks = plan->tasks_from[i]};
        const bool overflows =
            !is_sized && moving->task_bytes > 0 && side->tasks > LLONG_MAX / moving->task_bytes;
        if (is_sized) side->sizes = moving->arrived_sizes + first;
        side->bytes = overflows ? LLONG_MAX : side->tasks * moving->task_bytes;
        first += side->tasks;
    }
    moving->unasked = plan->to_count;
    moving->unknown = is_sized ? plan->from_count : 0;
    return true;
}

static void free_moving(struct topoloom_tasks_moving* moving) {
    if (moving->open > 0) return;  // MPI may still read it
    free(moving->to);
    free(moving->from);
    free(moving->arrived);
    free(moving->arrived_sizes);
    free(moving->requests);
    free(moving->events);
    free(moving->indices);
    free(moving->statuses);
    free(moving);
}

/// What has been sent here, or will be, has no place: the program ends before it misses that.
static void break_promise(const struct topoloom_tasks_moving* moving) {
    const topoloom_plan* plan = &moving->plan->front;
    const char* reason = moving->fault != NULL ? moving->fault : "there is less room, or fewer bytes of it";
    print_before_abort(
        "topoloom: topoloom_exchange: rank %d has promised room for %lld tasks, of which %lld come: %s\n",
        moving->plan->state->rank, plan->before + plan->after - plan->kept, plan->after - plan->kept, reason);
    PMPI_Abort(moving->plan->state->own, MPI_ERR_TRUNCATE);
}

static int start(struct topoloom_tasks_moving given, topoloom_exchange_request* moving) {
    struct plan* plan = given.plan;
    clear_error_message();
    if (plan == NULL) return raise_error(MPI_COMM_WORLD, MPI_ERR_ARG, "exchange", "the plan is NULL");
    struct topoloom_tasks_moving* made = malloc(sizeof *made);
    if (made == NULL) return raise_error(plan->state->own, MPI_ERR_NO_MEM, "exchange", "there is no memory");
    *made = given;
    made->tag = letter_tags + exchange_tags * (exchanges_at_once * (plan->number % plans_at_once) +
                                               plan->exchanges % exchanges_at_once);
    made->is_unasked = plan->makes_room && made->task_bytes != 0;
    made->fault = find_fault(made);
    if (!list_sides(made)) {
        free_moving(made);
        return raise_error(plan->state->own, MPI_ERR_NO_MEM, "exchange", "there is no memory");
    }
    if (made->is_unasked && plan->front.from_count > 0 && (made->fault != NULL || !fits(made)))
        break_promise(made);
    ++plan->exchanges;
    start_moving(made);
    *moving = made;
    return MPI_SUCCESS;
}

int topoloom_exchange_start(topoloom_plan* plan, void* tasks, int task_bytes, long long room,
                            topoloom_exchange_request* moving) {
    const long long bytes = task_bytes > 0 ? task_bytes : -1;
    const bool overflows = room < 0 || (bytes > 0 && room > LLONG_MAX / bytes);
    return start((struct topoloom_tasks_moving){.plan = (struct plan*)plan,
                                                .tasks = tasks,
                                                .task_bytes = bytes,
                                                .room = room,
                                                .byte_room = overflows ? -1 : room * bytes * (bytes > 0)},
                 moving);
}

int topoloom_exchange_sized_start(topoloom_plan* plan, void* tasks, long long byte_room, long long* sizes,
                                  long long room, topoloom_exchange_request* moving) {
    return start(
        (struct topoloom_tasks_moving){
            .plan = (struct plan*)plan, .tasks = tasks, .sizes = sizes, .room = room, .byte_room = byte_room},
        moving);
}

/// Puts a side's tasks behind those that are in place.
static void put(struct topoloom_tasks_moving* moving, const struct side* side, long long* tasks,
                long long* bytes) {
    memmove(moving->tasks + *bytes, side->data, (size_t)side->bytes);
    if (moving->task_bytes == 0)
        memmove(moving->sizes + *tasks, side->sizes, (size_t)side->tasks * sizeof *side->sizes);
    *tasks += side->tasks;
    *bytes += side->bytes;
}

/// Returns how many tasks are here.
static long long put_in_order(struct topoloom_tasks_moving* moving, const struct side** refused,
                              const struct side** missing) {
    const topoloom_plan* plan = &moving->plan->front;
    long long tasks = plan->kept, bytes = moving->kept_bytes;
    for (int i = 0; i < plan->to_count; ++i) {
        if (moving->to[i].has_room && moving->to[i].open_parts == 0) continue;
        *refused = &moving->to[i];
        put(moving, &moving->to[i], &tasks, &bytes);
    }
    for (int i = 0; i < plan->from_count; ++i) {
        if (!moving->from[i].moves || moving->from[i].open_parts > 0)
            *missing = &moving->from[i];
        else if (moving->has_room)
            put(moving, &moving->from[i], &tasks, &bytes);
    }
    return tasks;
}

/// Puts tasks in order and says what went wrong.
static int conclude(struct topoloom_tasks_moving* moving, long long* held) {
    const topoloom_plan* plan = &moving->plan->front;
    const MPI_Comm comm = moving->plan->state->own;
    *held = plan->before;
    if (moving->status != MPI_SUCCESS) return moving->status;
    if (moving->fault != NULL) return raise_error(comm, MPI_ERR_ARG, "exchange", "%s", moving->fault);
    const struct side *refused = NULL, *missing = NULL;
    *held = put_in_order(moving, &refused, &missing);
    if (moving->is_given_up) return raise_silence(moving);
    if (!moving->has_room && plan->from_count > 0)
        return raise_error(comm, MPI_ERR_TRUNCATE, "exchange",
                           "%lld tasks would be here, and there is room for %lld, or their bytes have none",
                           moving->plan->is_given ? plan->before + plan->after - plan->kept : plan->after,
                           moving->room);
    if (refused != NULL && refused->takes != 0)
        return raise_error(
            comm, MPI_ERR_ARG, "exchange",
            "rank %d takes tasks of %d bytes, while those of this rank have %lld and stay here",
            refused->rank, refused->takes, moving->task_bytes);
    if (refused != NULL)
        return raise_error(comm, MPI_ERR_TRUNCATE, "exchange",
                           "rank %d has no room for %lld tasks, which stay here", refused->rank,
                           refused->tasks);
    if (missing != NULL)
        return raise_error(comm, MPI_ERR_OTHER, "exchange", "rank %d could not hand over its tasks",
                           missing->rank);
    return MPI_SUCCESS;
}

static int raise_null_request(void) {
    return raise_error(MPI_COMM_WORLD, MPI_ERR_ARG, "exchange",
                       "the request is NULL: no exchange is under way");
}

int topoloom_exchange_test(topoloom_exchange_request moving, int* done) {
    clear_error_message();
    if (moving == NULL) return raise_null_request();
    *done = step_moving(moving, false);
    return MPI_SUCCESS;
}

int topoloom_exchange_finish(topoloom_exchange_request* given, long long* held) {
    struct topoloom_tasks_moving* moving = *given;
    long long here = 0;
    clear_error_message();
    if (moving == NULL) return raise_null_request();
    while (!step_moving(moving, true)) {
    }
    *given = NULL;
    const int status = conclude(moving, held != NULL ? held : &here);
    free_moving(moving);
    return status;
}

int topoloom_exchange(topoloom_plan* plan, void* tasks, int task_bytes, long long room, long long* held) {
    topoloom_exchange_request moving = NULL;
    const int status = topoloom_exchange_start(plan, tasks, task_bytes, room, &moving);
    return status == MPI_SUCCESS ? topoloom_exchange_finish(&moving, held) : status;
}

int topoloom_exchange_sized(topoloom_plan* plan, void* tasks, long long byte_room, long long* sizes,
                            long long room, long long* held) {
    topoloom_exchange_request moving = NULL;
    const int status = topoloom_exchange_sized_start(plan, tasks, byte_room, sizes, room, &moving);
    return status == MPI_SUCCESS ? topoloom_exchange_finish(&moving, held) : status;
}
