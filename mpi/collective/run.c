// SPDX-License-Identifier: BSD-3-Clause
// Executes a program that the core has compiled from a schedule, round by round.
#include <limits.h>
#include <stdlib.h>

#include "collective.h"
#include "messages.h"

static void record_first_error(int* first, int status) {
    if (*first == MPI_SUCCESS) *first = status;
}

// ---- local work --------------------------------------------------------------------------------------------------

static char* get_address(const struct run* run, topoloom_place place) {
    return run->base[place.memory] + place.offset * run->type.extent;
}

static int reduce_elements(const struct run* run, const char* from, char* to, int64_t count) {
    for (int64_t done = 0; done < count; done += INT_MAX) {
        const int part = (int)(count - done < INT_MAX ? count - done : INT_MAX);
        const MPI_Aint offset = (MPI_Aint)done * run->type.extent;
        const int status = PMPI_Reduce_local(from + offset, to + offset, part, run->type.type, run->op);
        if (status != MPI_SUCCESS) return status;
    }
    return MPI_SUCCESS;
}

static int execute_local_work(const struct run* run, topoloom_slice slice) {
    const double begin = run->trace != NULL ? PMPI_Wtime() : 0;
    for (uint32_t i = slice.begin; i < slice.end; ++i) {
        const topoloom_work* work = &run->plan->program.works[i];
        const char* from = get_address(run, work->from);
        char* to = get_address(run, work->to);
        const int status = work->combines ? reduce_elements(run, from, to, work->units)
                                          : copy_elements(&run->type, from, to, work->units);
        if (status != MPI_SUCCESS) return status;
    }
    if (run->trace != NULL && slice.begin < slice.end) trace_copies(run->trace, (int)run->round, begin);
    return MPI_SUCCESS;
}

// ---- messages ----------------------------------------------------------------------------------------------------

static int post_planned_message(const struct run* run, uint32_t index, enum message_direction direction,
                                bool persistent, MPI_Request* request) {
    const topoloom_message* planned = &run->plan->program.messages[index];
    const int peer = (int)planned->peer;
    const struct message message = {.type = &run->type,
                                    .count = planned->units,
                                    .buffer = planned->units == 0 ? NULL : get_address(run, planned->at),
                                    .peer = run->members == NULL ? peer : run->members[peer],
                                    .tag = run->tag,
                                    .comm = run->duplicate};
    if (run->trace != NULL)
        trace_message(run->trace, direction == sending ? event_send : event_receive, (int)run->round,
                      message.peer, planned->units * run->type.size);
    return post_message(&message, direction, persistent, request);
}

// In the array of messages, the sends of a round follow its receives.
static int start_messages(struct run* run, const topoloom_round* round) {
    int first = MPI_SUCCESS;
    for (uint32_t m = round->receives.begin; m < round->sends.end; ++m) {
        MPI_Request* request = &run->requests[run->in_flight++];
        *request = MPI_REQUEST_NULL;
        const enum message_direction direction = m < round->sends.begin ? receiving : sending;
        record_first_error(&first, post_planned_message(run, m, direction, false, request));
    }
    return first;
}

static int start_persistent_requests(struct run* run, const topoloom_round* round) {
    const int receives = (int)(round->receives.end - round->receives.begin);
    run->requests = run->persistent + round->receives.begin;
    int first = receives > 0 ? PMPI_Startall(receives, run->requests) : MPI_SUCCESS;
    for (uint32_t m = round->sends.begin; m < round->sends.end; ++m) {
        MPI_Request* request = &run->persistent[m];
        record_first_error(&first, *request != MPI_REQUEST_NULL
                                       ? PMPI_Start(request)
                                       : post_planned_message(run, m, sending, false, request));
    }
    run->in_flight = (int)(round->sends.end - round->receives.begin);
    for (int i = 0; i < run->in_flight; ++i) run->statuses[i].MPI_ERROR = MPI_SUCCESS;
    return first;
}

/// Open MPI sends short messages faster by MPI_Isend than by a persistent request; other libraries are equally fast.
static bool is_sent_eagerly(const struct run* run, const topoloom_message* message) {
    enum { max_bytes = 256 };
    return message->units * run->type.size <= max_bytes;
}

static int create_missing_requests(const struct run* run) {
    const topoloom_program* program = &run->plan->program;
    for (size_t r = 0; r < program->round_count; ++r) {
        const topoloom_round* round = &program->rounds[r];
        for (uint32_t m = round->receives.begin; m < round->sends.end; ++m) {
            const enum message_direction direction = m < round->sends.begin ? receiving : sending;
            if (run->persistent[m] != MPI_REQUEST_NULL) continue;
            if (direction == sending && is_sent_eagerly(run, &program->messages[m])) continue;
            const int status = post_planned_message(run, m, direction, true, &run->persistent[m]);
            if (status != MPI_SUCCESS) return status;
        }
    }
    return MPI_SUCCESS;
}

int create_persistent_requests(struct run* run) {
    const size_t count = run->plan->program.message_count;
    run->persistent = malloc((count + 1) * sizeof *run->persistent);
    if (run->persistent == NULL) return MPI_ERR_NO_MEM;
    for (size_t i = 0; i < count; ++i) run->persistent[i] = MPI_REQUEST_NULL;
    free(run->requests);
    run->requests = NULL;
    return create_missing_requests(run);
}

// ---- rounds ------------------------------------------------------------------------------------------------------

static int start_round(struct run* run, const topoloom_round* round) {
    int first = execute_local_work(run, round->before);
    if (run->trace != NULL) begin_traced_messages(run->trace);
    record_first_error(
        &first, run->persistent != NULL ? start_persistent_requests(run, round) : start_messages(run, round));
    run->is_round_started = true;
    record_first_error(&first, execute_local_work(run, round->meanwhile));
    return first;
}

/// Returns the first error in the statuses, which replaces MPI_ERR_IN_STATUS, or `fallback` if there is none.
static int find_first_error(const struct run* run, int fallback) {
    for (int i = 0; i < run->in_flight; ++i) {
        const int status = run->statuses[i].MPI_ERROR;
        if (status != MPI_SUCCESS && status != MPI_ERR_PENDING) return status;
    }
    return fallback;
}

/// Completes each request separately, because after an error the states of requests are unknown.
static bool complete_individually(struct run* run, bool wait) {
    bool all = true;
    for (int i = 0; i < run->in_flight; ++i) {
        int flag = 1;
        const int status = wait ? PMPI_Wait(&run->requests[i], MPI_STATUS_IGNORE)
                                : PMPI_Test(&run->requests[i], &flag, MPI_STATUS_IGNORE);
        all = all && (status != MPI_SUCCESS || flag);
    }
    return all;
}

static int complete_round(struct run* run, enum advance_mode mode, bool* done) {
    int flag = run->in_flight == 0, status = MPI_SUCCESS;
    const bool wait = mode == waiting;
    if (flag || mode == posting) {
        *done = flag;
        return MPI_SUCCESS;
    }
    if (run->error != MPI_SUCCESS) {
        flag = complete_individually(run, wait);
    } else if (run->trace != NULL) {
        status = complete_traced_requests(run->trace, run->in_flight, run->requests, wait, &flag);
    } else {
        status = wait ? PMPI_Waitall(run->in_flight, run->requests, run->statuses)
                      : PMPI_Testall(run->in_flight, run->requests, &flag, run->statuses);
        // Open MPI may return MPI_SUCCESS even if a persistent request has failed.
        const bool may_hide_error = status == MPI_SUCCESS && flag && run->persistent != NULL;
        if (status == MPI_ERR_IN_STATUS || may_hide_error) status = find_first_error(run, status);
    }
    *done = status == MPI_SUCCESS && (wait || flag != 0);
    if (*done) run->in_flight = 0;
    return status;
}

/// Records an error. Returns true if the remaining rounds must be executed, because peers wait for their messages.
/// Returns false if the error is fatal.
static bool continue_after_error(struct run* run, int status) {
    record_first_error(&run->error, status);
    return status == MPI_SUCCESS || run->error_comm == MPI_COMM_NULL || !is_fatal(run->error_comm);
}

int advance_run(struct run* run, enum advance_mode mode, bool* done) {
    const topoloom_program* program = &run->plan->program;
    *done = false;
    while (run->round < program->round_count) {
        const topoloom_round* round = &program->rounds[run->round];
        bool complete = false;
        if (!run->is_round_started && !continue_after_error(run, start_round(run, round))) return run->error;
        if (!continue_after_error(run, complete_round(run, mode, &complete))) return run->error;
        if (!complete && mode == waiting) continue;  // after an error, other requests are still in flight
        if (!complete) return MPI_SUCCESS;
        if (!continue_after_error(run, execute_local_work(run, round->after))) return run->error;
        run->is_round_started = false;
        ++run->round;
    }
    const int status = run->error;
    // Some libraries free failed persistent requests, which the next start needs.
    if (status != MPI_SUCCESS && run->persistent != NULL) (void)create_missing_requests(run);
    run->round = 0;
    run->error = MPI_SUCCESS;
    *done = true;
    return status;
}

// ---- memory ------------------------------------------------------------------------------------------------------

/// Allocates scratch memory. The base is shifted by the true lower bound of the type.
static bool reserve_scratch(struct run* run) {
    const int64_t units = run->plan->program.scratch_units;
    const struct type_desc* type = &run->type;
    const size_t bytes =
        units == 0 ? 0 : (size_t)((units - 1) * type->extent + type->true_extent + type->extent);
    if (bytes > run->scratch_bytes) {
        free(run->scratch);
        run->scratch = malloc(bytes);
        run->scratch_bytes = run->scratch == NULL ? 0 : bytes;
        if (run->scratch == NULL) return false;
    }
    run->base[TOPOLOOM_SCRATCH] = run->scratch - type->true_lb;
    return true;
}

struct run* create_run(struct plan* plan) {
    struct run* run = calloc(1, sizeof *run);
    if (run == NULL) return NULL;
    run->plan = plan;
    run->requests = malloc((plan->max_requests + 1) * sizeof *run->requests);
    run->statuses = malloc((plan->max_requests + 1) * sizeof *run->statuses);
    if (run->requests != NULL && run->statuses != NULL) return run;
    free_run(run);
    return NULL;
}

bool prepare_run_for_type(struct run* run, const struct type_desc* type) {
    run->type = *type;
    return reserve_scratch(run);
}

void free_run(struct run* run) {
    for (size_t i = 0; run->persistent != NULL && i < run->plan->program.message_count; ++i)
        if (run->persistent[i] != MPI_REQUEST_NULL) PMPI_Request_free(&run->persistent[i]);
    if (run->persistent == NULL) free(run->requests);
    free(run->persistent);
    free(run->statuses);
    free(run->scratch);
    free(run);
}
