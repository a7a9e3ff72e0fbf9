// SPDX-License-Identifier: BSD-3-Clause
// Requests of non-blocking and persistent calls.
#include <sched.h>
#include <stdlib.h>

#include "collective.h"

// ---- creation and start ------------------------------------------------------------------------------------------

static void free_request(topoloom_request* request) {
    end_call(&(*request)->call);
    free(*request);
    *request = TOPOLOOM_REQUEST_NULL;
}

static int create_request(const struct arguments* arguments, bool persistent, topoloom_request* request) {
    if (request == NULL)
        return raise_error(arguments->comm, MPI_ERR_ARG, arguments->name, "the request is null");
    *request = TOPOLOOM_REQUEST_NULL;
    topoloom_request created = calloc(1, sizeof *created);
    if (created == NULL)
        return raise_error(arguments->comm, MPI_ERR_NO_MEM, arguments->name, "not enough memory");
    created->call.arguments = *arguments;
    created->call.is_persistent = persistent;
    int status = begin_call(&created->call);
    if (status != MPI_SUCCESS) {
        free(created);
        return status;
    }
    status = duplicate_types(&created->call);
    if (status != MPI_SUCCESS)
        free_request(&created);
    else
        *request = created;
    return status;
}

static void start_request(topoloom_request request) {
    struct process_state* process = request->call.state->process;
    request->is_active = true;
    request->call.error = MPI_SUCCESS;  // resets the error of an earlier start
    lock_process(process);
    activate_call(process, &request->call);
    struct call* to_notify =
        advance_active_call(&request->call, posting) ? remove_complete_calls(process) : NULL;
    wake_progress(&process->progress);
    unlock_process(process);
    notify_complete(to_notify);
}

int start_nonblocking_call(const struct arguments* arguments, topoloom_request* request) {
    const int status = create_request(arguments, false, request);
    if (status == MPI_SUCCESS) start_request(*request);
    return status;
}

int create_persistent_call(const struct arguments* arguments, topoloom_request* request) {
    int status = create_request(arguments, true, request);
    if (status != MPI_SUCCESS) return status;
    // Prepare now, so that starts allocate no memory.
    struct call* call = &(*request)->call;
    struct process_state* process = call->state->process;
    bool done = false;
    while (status == MPI_SUCCESS && !done) {
        const bool may_block = !has_other_active_calls(process, call);
        status = prepare_call(call, may_block, &done);
        if (!may_block && !done) drive_active_calls(process);
    }
    if (status != MPI_SUCCESS) free_request(request);
    return status;
}

// Errors for invalid arguments are only returned, because no communicator is available to raise them on.

int topoloom_start(topoloom_request* request) {
    if (request == NULL || *request == TOPOLOOM_REQUEST_NULL || (*request)->is_active ||
        !(*request)->call.is_persistent)
        return MPI_ERR_REQUEST;
    start_request(*request);
    return MPI_SUCCESS;
}

int topoloom_startall(int count, topoloom_request requests[]) {
    for (int i = 0; i < count; ++i) {
        const int status = topoloom_start(&requests[i]);
        if (status != MPI_SUCCESS) return status;
    }
    return MPI_SUCCESS;
}

int topoloom_request_free(topoloom_request* request) {
    if (request == NULL || *request == TOPOLOOM_REQUEST_NULL || (*request)->is_active) return MPI_ERR_REQUEST;
    free_request(request);
    return MPI_SUCCESS;
}

// ---- completion --------------------------------------------------------------------------------------------------

void notify_when_complete(topoloom_request request, void (*on_complete)(void*), void* data) {
    struct process_state* process = request->call.state->process;
    lock_process(process);
    const bool is_complete = request->call.is_complete;
    request->call.on_complete = is_complete ? NULL : on_complete;
    request->call.on_complete_data = data;
    unlock_process(process);
    if (is_complete) on_complete(data);
}

int consume_status(topoloom_request* request) {
    struct call* call = &(*request)->call;
    const int status = call->error;
    call->is_pending = false;
    (*request)->is_active = false;
    if (!call->is_persistent) free_request(request);
    return status;
}

/// Consumes a completed request, and raises its error.
static int finish_request(topoloom_request* request) {
    const struct call* call = &(*request)->call;
    const struct comm_state* state = call->state->parent != NULL ? call->state->parent : call->state;
    if (call->error != MPI_SUCCESS && !__atomic_load_n(&state->is_freed, __ATOMIC_RELAXED))
        raise_call_error(call);
    return consume_status(request);
}

void set_empty_status(MPI_Status* status) {
    if (status == MPI_STATUS_IGNORE) return;
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    status->MPI_ERROR = MPI_SUCCESS;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
}

static bool is_active(topoloom_request request) {
    return request != TOPOLOOM_REQUEST_NULL && request->is_active;
}

static bool test_active_request(topoloom_request request) {
    struct process_state* process = request->call.state->process;
    lock_process(process);
    struct call* to_notify = request->call.is_complete ? NULL : advance_active_calls(process);
    const bool is_complete = request->call.is_complete;
    unlock_process(process);
    notify_complete(to_notify);
    return is_complete;
}

static void wait_for_active_request(topoloom_request request) {
    struct process_state* process = request->call.state->process;
    struct call* call = &request->call;
    while (process->is_threaded || call->is_complete || has_other_active_calls(process, call)) {
        if (test_active_request(request)) return;
        sched_yield();
    }
    advance_active_call(call, waiting);
    (void)remove_complete_calls(process);  // needs no lock: no other thread waits
}

int topoloom_test(topoloom_request* request, int* flag, MPI_Status* status) {
    if (request == NULL || flag == NULL) return MPI_ERR_ARG;
    *flag = !is_active(*request) || test_active_request(*request);
    if (!*flag) return MPI_SUCCESS;
    set_empty_status(status);
    return is_active(*request) ? finish_request(request) : MPI_SUCCESS;
}

int topoloom_wait(topoloom_request* request, MPI_Status* status) {
    if (request == NULL) return MPI_ERR_ARG;
    set_empty_status(status);
    if (!is_active(*request)) return MPI_SUCCESS;
    wait_for_active_request(*request);
    return finish_request(request);
}

int topoloom_testall(int count, topoloom_request requests[], int* flag, MPI_Status statuses[]) {
    if (flag == NULL || (count > 0 && requests == NULL)) return MPI_ERR_ARG;
    *flag = 1;
    for (int i = 0; i < count && *flag; ++i)
        *flag = !is_active(requests[i]) || test_active_request(requests[i]);
    return *flag ? topoloom_waitall(count, requests, statuses) : MPI_SUCCESS;
}

int topoloom_waitall(int count, topoloom_request requests[], MPI_Status statuses[]) {
    if (count > 0 && requests == NULL) return MPI_ERR_ARG;
    int result = MPI_SUCCESS;
    for (int i = 0; i < count; ++i) {
        MPI_Status* status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
        const int error = topoloom_wait(&requests[i], status);
        if (error == MPI_SUCCESS) continue;
        result = MPI_ERR_IN_STATUS;
        if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = error;
    }
    return result;
}
