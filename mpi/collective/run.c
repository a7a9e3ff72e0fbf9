// SPDX-License-Identifier: BSD-3-Clause
// Moves the data of a program, round by round.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "collective.h"
#include "messages.h"

static char* address(const struct run* run, topoloom_place at) {
    return run->base[at.memory] + at.offset * run->elements.extent;
}

static int combine(const struct run* run, const char* from, char* to, int64_t count) {
    for (int64_t done = 0; done < count; done += INT_MAX) {
        const int part = (int)(count - done < INT_MAX ? count - done : INT_MAX);
        const MPI_Aint offset = (MPI_Aint)done * run->elements.extent;
        const int status = PMPI_Reduce_local(from + offset, to + offset, part, run->elements.type, run->op);
        if (status != MPI_SUCCESS) return status;
    }
    return MPI_SUCCESS;
}

static int work(const struct run* run, topoloom_slice slice) {
    const double begin = run->trace != NULL ? PMPI_Wtime() : 0;
    for (uint32_t i = slice.begin; i < slice.end; ++i) {
        const topoloom_work* one = &run->plan->program.works[i];
        const char* from = address(run, one->from);
        char* to = address(run, one->to);
        const int status = one->combines ? combine(run, from, to, one->units)
                                         : copy_elements(&run->elements, from, to, one->units);
        if (status != MPI_SUCCESS) return status;
    }
    if (run->trace != NULL && slice.begin < slice.end) trace_copies(run->trace, (int)run->round, begin);
    return MPI_SUCCESS;
}

static int post(const struct run* run, uint32_t message, enum direction direction, bool persistent,
                MPI_Request* request) {
    const topoloom_message* one = &run->plan->program.messages[message];
    const struct message as_mpi = {.elements = &run->elements,
                                   .count = one->units,
                                   .at = one->units == 0 ? NULL : address(run, one->at),
                                   .peer = run->members == NULL ? (int)one->peer : run->members[one->peer],
                                   .tag = run->tag,
                                   .comm = run->own};
    if (run->trace != NULL)
        trace_message(run->trace, direction == sending ? event_send : event_receive, (int)run->round,
                      as_mpi.peer, one->units * run->elements.size);
    return post_message(&as_mpi, direction, persistent, request);
}

static void keep_first(int* first, int status) {
    if (*first == MPI_SUCCESS) *first = status;
}

// Receives and sends of a round are neighbors among the messages.
static int start_messages(struct run* run, const topoloom_round* round) {
    int first = MPI_SUCCESS;
    for (uint32_t m = round->receives.begin; m < round->sends.end; ++m) {
        MPI_Request* request = &run->requests[run->in_flight++];
        *request = MPI_REQUEST_NULL;
        keep_first(&first, post(run, m, m < round->sends.begin ? receiving : sending, false, request));
    }
    return first;
}

static int start_prepared(struct run* run, const topoloom_round* round) {
    const int receives = (int)(round->receives.end - round->receives.begin);
    run->requests = run->prepared + round->receives.begin;
    int first = receives > 0 ? PMPI_Startall(receives, run->requests) : MPI_SUCCESS;
    for (uint32_t m = round->sends.begin; m < round->sends.end; ++m) {
        MPI_Request* request = &run->prepared[m];
        keep_first(&first, *request != MPI_REQUEST_NULL ? PMPI_Start(request)
                                                        : post(run, m, sending, false, request));
    }
    run->in_flight = (int)(round->sends.end - round->receives.begin);
    for (int i = 0; i < run->in_flight; ++i) run->statuses[i].MPI_ERROR = MPI_SUCCESS;
    return first;
}

static int start_round(struct run* run, const topoloom_round* round) {
    int first = work(run, round->before);
    if (run->trace != NULL) begin_traced_messages(run->trace);
    keep_first(&first, run->prepared != NULL ? start_prepared(run, round) : start_messages(run, round));
    run->started = true;
    keep_first(&first, work(run, round->meanwhile));
    return first;
}

/// The first error of several requests, instead of MPI's, which is that there is one; or `otherwise`.
static int first_error(const struct run* run, int otherwise) {
    for (int i = 0; i < run->in_flight; ++i) {
        const int status = run->statuses[i].MPI_ERROR;
        if (status != MPI_SUCCESS && status != MPI_ERR_PENDING) return status;
    }
    return otherwise;
}

/// After an error, whatever MPI has made of the other requests.
static bool complete_singly(struct run* run, bool wait) {
    bool all = true;
    for (int i = 0; i < run->in_flight; ++i) {
        int flag = 1;
        const int status = wait ? PMPI_Wait(&run->requests[i], MPI_STATUS_IGNORE)
                                : PMPI_Test(&run->requests[i], &flag, MPI_STATUS_IGNORE);
        all = all && (status != MPI_SUCCESS || flag);
    }
    return all;
}

static int complete_round(struct run* run, enum effort effort, bool* done) {
    int flag = run->in_flight == 0, status = MPI_SUCCESS;
    const bool wait = effort == waiting;
    if (flag || effort == posting) {
        *done = flag;
        return MPI_SUCCESS;
    }
    if (run->failed != MPI_SUCCESS) {
        flag = complete_singly(run, wait);
    } else if (run->trace != NULL) {
        status = complete_traced_requests(run->trace, run->in_flight, run->requests, wait, &flag);
    } else {
        status = wait ? PMPI_Waitall(run->in_flight, run->requests, run->statuses)
                      : PMPI_Testall(run->in_flight, run->requests, &flag, run->statuses);
        // Open MPI calls it a success where a persistent one has failed.
        const bool is_silent = status == MPI_SUCCESS && flag && run->prepared != NULL;
        if (status == MPI_ERR_IN_STATUS || is_silent) status = first_error(run, status);
    }
    *done = status == MPI_SUCCESS && (wait || flag != 0);
    if (*done) run->in_flight = 0;
    return status;
}

/// Open MPI sends what is short within MPI_Isend, and thus sooner than by a persistent request; others take as long.
static bool is_sent_at_once(const struct run* run, const topoloom_message* message) {
    enum { most = 256 };
    return message->units * run->elements.size <= most;
}

/// Makes the persistent messages that there are not.
static int make_prepared(const struct run* run) {
    const topoloom_program* program = &run->plan->program;
    for (size_t r = 0; r < program->round_count; ++r) {
        const topoloom_round* round = &program->rounds[r];
        for (uint32_t m = round->receives.begin; m < round->sends.end; ++m) {
            const bool sends = m >= round->sends.begin;
            if (run->prepared[m] != MPI_REQUEST_NULL) continue;
            if (sends && is_sent_at_once(run, &program->messages[m])) continue;
            const int status = post(run, m, sends ? sending : receiving, true, &run->prepared[m]);
            if (status != MPI_SUCCESS) return status;
        }
    }
    return MPI_SUCCESS;
}

int prepare_run(struct run* run) {
    const size_t count = run->plan->program.message_count;
    run->prepared = malloc((count + 1) * sizeof *run->prepared);
    if (run->prepared == NULL) return MPI_ERR_NO_MEM;
    for (size_t i = 0; i < count; ++i) run->prepared[i] = MPI_REQUEST_NULL;
    free(run->requests);
    run->requests = NULL;
    return make_prepared(run);
}

/// Keeps the first error. Peers wait for what comes next, so it is reported at the end, unless it ends the program.
static bool goes_on(struct run* run, int status) {
    keep_first(&run->failed, status);
    return status == MPI_SUCCESS || run->comm == MPI_COMM_NULL || !is_fatal(run->comm);
}

int advance_run(struct run* run, enum effort effort, bool* done) {
    const topoloom_program* program = &run->plan->program;
    *done = false;
    while (run->round < program->round_count) {
        const topoloom_round* round = &program->rounds[run->round];
        bool complete = false;
        if (!run->started && !goes_on(run, start_round(run, round))) return run->failed;
        if (!goes_on(run, complete_round(run, effort, &complete))) return run->failed;
        if (!complete && effort == waiting) continue;  // others are under way, after an error
        if (!complete) return MPI_SUCCESS;
        if (!goes_on(run, work(run, round->after))) return run->failed;
        run->started = false;
        ++run->round;
    }
    const int status = run->failed;
    // Some libraries free persistent requests that fail, but the next start needs them.
    if (status != MPI_SUCCESS && run->prepared != NULL) (void)make_prepared(run);
    run->round = 0;
    run->failed = MPI_SUCCESS;
    *done = true;
    return status;
}

/// Room for what passes through; its elements begin `low` bytes behind where they are said to be.
static bool make_room(struct run* run) {
    const int64_t units = run->plan->program.scratch_units;
    const struct elements* elements = &run->elements;
    const size_t bytes =
        units == 0 ? 0 : (size_t)((units - 1) * elements->extent + elements->span + elements->extent);
    if (bytes > run->scratch_bytes) {
        free(run->scratch);
        run->scratch = malloc(bytes);
        run->scratch_bytes = run->scratch == NULL ? 0 : bytes;
        if (run->scratch == NULL) return false;
    }
    run->base[TOPOLOOM_SCRATCH] = run->scratch - elements->low;
    return true;
}

struct run* take_run(struct plan* plan, const struct elements* elements) {
    struct run* run = plan->idle;
    if (run != NULL) {
        plan->idle = run->next;
    } else {
        run = calloc(1, sizeof *run);
        if (run == NULL) return NULL;
        run->requests = malloc((plan->most_requests + 1) * sizeof *run->requests);
        run->statuses = malloc((plan->most_requests + 1) * sizeof *run->statuses);
    }
    run->plan = plan;
    run->next = NULL;
    run->elements = *elements;
    if ((run->requests == NULL && run->prepared == NULL) || run->statuses == NULL || !make_room(run)) {
        free_run(run);
        return NULL;
    }
    ++plan->users;
    return run;
}

void free_run(struct run* run) {
    if (run == NULL) return;
    for (size_t i = 0; run->prepared != NULL && i < run->plan->program.message_count; ++i)
        if (run->prepared[i] != MPI_REQUEST_NULL) PMPI_Request_free(&run->prepared[i]);
    if (run->prepared == NULL) free(run->requests);
    free(run->prepared);
    free(run->statuses);
    free(run->scratch);
    free(run);
}

void give_back_run(struct run* run) {
    if (run->in_flight > 0) return;  // after an error: messages may still use its memory
    struct plan* plan = run->plan;
    if (run->prepared != NULL || run->round > 0) {
        free_run(run);
    } else {
        run->next = plan->idle;
        plan->idle = run;
    }
    release_plan(plan);
}
