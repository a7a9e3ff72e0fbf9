// SPDX-License-Identifier: BSD-3-Clause
// Starts, tests and waits. Whoever waits also drives what else the process has started: another rank may wait for that.
#include <sched.h>
#include <stdlib.h>

#include "collective.h"
#include "learning.h"

// ---- the active calls of the process: under its guard -------------------------------------------------------------

static void activate(struct process* process, struct call* call) {
    call->complete = false;
    call->under_way = true;
    call->next = NULL;
    struct call** at = &process->active;
    while (*at != NULL) at = &(*at)->next;
    *at = call;
}

/// Returns those whose end is awaited: the first, and from each the next.
static struct call* drop_complete(struct process* process) {
    struct call **at = &process->active, *awaited = NULL;
    while (*at != NULL) {
        struct call* call = *at;
        if (!call->complete) {
            at = &call->next;
            continue;
        }
        *at = call->next;
        if (call->awaits == NULL) continue;
        call->next = awaited;
        awaited = call;
    }
    return awaited;
}

/// Whether it is complete then. An error is of the call, and waits in it for whoever asks for the call.
static bool step(struct call* call, enum effort effort) {
    const int status = advance_call(call, effort, &call->complete);
    call->complete = call->complete || status != MPI_SUCCESS;
    return call->complete;
}

static struct call* drive(struct process* process) {
    bool any = false;
    for (struct call* call = process->active; call != NULL; call = call->next)
        any = step(call, testing) || any;
    return any ? drop_complete(process) : NULL;
}

/// Not under the guard: the call may be freed meanwhile.
static void say_complete(struct call* call) {
    while (call != NULL) {
        struct call* next = call->next;
        call->awaits(call->awaiting);
        call = next;
    }
}

bool drive_active(struct process* process) {
    lock_process(process);
    struct call* awaited = drive(process);
    const bool any = process->active != NULL;
    unlock_process(process);
    say_complete(awaited);
    return any;
}

// ---- waiting ------------------------------------------------------------------------------------------------------

static bool is_alone(struct process* process, const struct call* call) {
    lock_process(process);
    const bool alone = process->active == NULL || (process->active == call && call->next == NULL);
    unlock_process(process);
    return alone;
}

int finish_call(struct call* call) {
    struct process* process = call->state->process;
    bool done = false;
    int status = MPI_SUCCESS;
    while (status == MPI_SUCCESS && !done) {
        const bool alone = is_alone(process, call);
        status = advance_call(call, alone ? waiting : testing, &done);
        if (alone || done) continue;
        drive_active(process);
        sched_yield();
    }
    return status;
}

/// Until all ranks have come here. Other calls go on meanwhile, which another rank may have to end first.
static int meet(const struct call* call) {
    MPI_Request request = MPI_REQUEST_NULL;
    int status = PMPI_Ibarrier(call->state->own, &request);
    for (int met = 0; status == MPI_SUCCESS && !met;) {
        status = PMPI_Test(&request, &met, MPI_STATUS_IGNORE);
        if (met) break;
        drive_active(call->state->process);
        sched_yield();
    }
    return status;
}

/// All ranks have their traces of a call on record, or none.
static int trace_call(const struct call* call) {
    struct trace* trace = call->state->trace;
    if (call->run == NULL || trace == NULL || call->run->trace != trace) return MPI_SUCCESS;
    const struct plan_key* key = &call->run->plan->key;
    const struct traced_call traced = {
        .operation = call->asked.name, .schedule = key->schedule, .bytes = key->units * key->unit_bytes};
    end_trace(trace);
    const int status = meet(call);
    return status == MPI_SUCCESS ? write_trace(trace, &traced, call->state->own, call->tag) : status;
}

int finish_blocking(struct call* call) {
    const int ended = finish_call(call);
    int status = MPI_SUCCESS;
    // Whatever error this rank has seen: others may have seen none.
    if (call->ready && call->is_timed) status = learn_from(call);
    if (call->ready && status == MPI_SUCCESS) status = trace_call(call);
    end_call(call);
    return ended != MPI_SUCCESS ? ended : status;
}

int run_blocking(const struct asked* asked) {
    struct call call = {.asked = *asked, .blocking = true};
    const int status = begin_call(&call);
    return status == MPI_SUCCESS ? finish_blocking(&call) : status;
}

// ---- requests -----------------------------------------------------------------------------------------------------

static int make_request(const struct asked* asked, bool persistent, topoloom_request* request) {
    if (request == NULL) return raise_error(asked->comm, MPI_ERR_ARG, asked->name, "the request is null");
    *request = TOPOLOOM_REQUEST_NULL;
    topoloom_request made = calloc(1, sizeof *made);
    if (made == NULL) return raise_error(asked->comm, MPI_ERR_NO_MEM, asked->name, "not enough memory");
    made->call.asked = *asked;
    made->call.persistent = persistent;
    int status = begin_call(&made->call);
    if (status == MPI_SUCCESS) {
        status = keep_types(&made->call);
        if (status != MPI_SUCCESS) end_call(&made->call);
    }
    if (status != MPI_SUCCESS) {
        free(made);
    } else {
        *request = made;
    }
    return status;
}

static void start(topoloom_request request) {
    struct process* process = request->call.state->process;
    request->active = true;
    request->call.failed = MPI_SUCCESS;  // an error of a former start ends none of the next
    lock_process(process);
    activate(process, &request->call);
    struct call* awaited = step(&request->call, posting) ? drop_complete(process) : NULL;
    wake_progress(&process->progress);
    unlock_process(process);
    say_complete(awaited);
}

int start_nonblocking(const struct asked* asked, topoloom_request* request) {
    const int status = make_request(asked, false, request);
    if (status == MPI_SUCCESS) start(*request);
    return status;
}

void when_complete(topoloom_request request, void (*awaits)(void*), void* awaiting) {
    struct process* process = request->call.state->process;
    lock_process(process);
    const bool complete = request->call.complete;
    request->call.awaits = complete ? NULL : awaits;
    request->call.awaiting = awaiting;
    unlock_process(process);
    if (complete) awaits(awaiting);
}

static void free_request(topoloom_request* request) {
    end_call(&(*request)->call);
    free(*request);
    *request = TOPOLOOM_REQUEST_NULL;
}

int make_persistent(const struct asked* asked, topoloom_request* request) {
    int status = make_request(asked, true, request);
    if (status != MPI_SUCCESS) return status;
    // All that a start needs is there afterwards: none allocates.
    struct call* call = &(*request)->call;
    bool done = false;
    while (status == MPI_SUCCESS && !done) {
        const bool alone = is_alone(call->state->process, call);
        status = ready_call(call, alone, &done);
        if (!alone && !done) drive_active(call->state->process);
    }
    if (status != MPI_SUCCESS) free_request(request);
    return status;
}

void set_empty(MPI_Status* status) {
    if (status == MPI_STATUS_IGNORE) return;
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    status->MPI_ERROR = MPI_SUCCESS;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
}

static bool is_active(topoloom_request request) {
    return request != TOPOLOOM_REQUEST_NULL && request->active;
}

int take_outcome(topoloom_request* request) {
    struct call* call = &(*request)->call;
    const int status = call->failed;
    call->under_way = false;
    (*request)->active = false;
    if (!call->persistent) free_request(request);
    return status;
}

/// Of a complete one; a request that is not persistent ends with it.
static int retire(topoloom_request* request) {
    const struct call* call = &(*request)->call;
    const struct state* state = call->state->whole != NULL ? call->state->whole : call->state;
    if (call->failed != MPI_SUCCESS && !__atomic_load_n(&state->is_freed, __ATOMIC_RELAXED))
        raise_failed(call);
    return take_outcome(request);
}

static bool test_active(topoloom_request request) {
    struct process* process = request->call.state->process;
    lock_process(process);
    struct call* awaited = request->call.complete ? NULL : drive(process);
    const bool complete = request->call.complete;
    unlock_process(process);
    say_complete(awaited);
    return complete;
}

static void wait_active(topoloom_request request) {
    struct process* process = request->call.state->process;
    struct call* call = &request->call;
    while (process->threaded || call->complete || !is_alone(process, call)) {
        if (test_active(request)) return;
        sched_yield();
    }
    step(call, waiting);
    (void)drop_complete(process);  // it alone is active, and waited for here
}

// Errors of arguments here have no communicator to be raised on: they are returned.
int topoloom_start(topoloom_request* request) {
    if (request == NULL || *request == TOPOLOOM_REQUEST_NULL || (*request)->active ||
        !(*request)->call.persistent)
        return MPI_ERR_REQUEST;
    start(*request);
    return MPI_SUCCESS;
}

int topoloom_startall(int count, topoloom_request requests[]) {
    for (int i = 0; i < count; ++i) {
        const int status = topoloom_start(&requests[i]);
        if (status != MPI_SUCCESS) return status;
    }
    return MPI_SUCCESS;
}

int topoloom_test(topoloom_request* request, int* flag, MPI_Status* status) {
    if (request == NULL || flag == NULL) return MPI_ERR_ARG;
    *flag = !is_active(*request) || test_active(*request);
    if (!*flag) return MPI_SUCCESS;
    set_empty(status);
    return is_active(*request) ? retire(request) : MPI_SUCCESS;
}

int topoloom_wait(topoloom_request* request, MPI_Status* status) {
    if (request == NULL) return MPI_ERR_ARG;
    set_empty(status);
    if (!is_active(*request)) return MPI_SUCCESS;
    wait_active(*request);
    return retire(request);
}

static int retire_all(int count, topoloom_request requests[], MPI_Status statuses[]) {
    int status = MPI_SUCCESS;
    for (int i = 0; i < count; ++i) {
        MPI_Status* one = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
        const int of_one = topoloom_wait(&requests[i], one);
        if (of_one == MPI_SUCCESS) continue;
        status = MPI_ERR_IN_STATUS;
        if (one != MPI_STATUS_IGNORE) one->MPI_ERROR = of_one;
    }
    return status;
}

int topoloom_testall(int count, topoloom_request requests[], int* flag, MPI_Status statuses[]) {
    if (flag == NULL || (count > 0 && requests == NULL)) return MPI_ERR_ARG;
    *flag = 1;
    for (int i = 0; i < count && *flag; ++i) *flag = !is_active(requests[i]) || test_active(requests[i]);
    return *flag ? retire_all(count, requests, statuses) : MPI_SUCCESS;
}

int topoloom_waitall(int count, topoloom_request requests[], MPI_Status statuses[]) {
    if (count > 0 && requests == NULL) return MPI_ERR_ARG;
    return retire_all(count, requests, statuses);
}

int topoloom_request_free(topoloom_request* request) {
    if (request == NULL || *request == TOPOLOOM_REQUEST_NULL || (*request)->active) return MPI_ERR_REQUEST;
    free_request(request);
    return MPI_SUCCESS;
}
