// SPDX-License-Identifier: BSD-3-Clause
// The active calls of a process. A thread that waits for one call advances all active calls, because other ranks may
// wait for them.
#include <sched.h>

#include "collective.h"

// ---- callers hold the mutex of the process ------------------------------------------------------------------------

void activate_call(struct process_state* process, struct call* call) {
    call->is_complete = false;
    call->is_pending = true;
    call->next = NULL;
    struct call** at = &process->active;
    while (*at != NULL) at = &(*at)->next;
    *at = call;
}

struct call* remove_complete_calls(struct process_state* process) {
    struct call **at = &process->active, *to_notify = NULL;
    while (*at != NULL) {
        struct call* call = *at;
        if (!call->is_complete) {
            at = &call->next;
            continue;
        }
        *at = call->next;
        if (call->on_complete == NULL) continue;
        call->next = to_notify;
        to_notify = call;
    }
    return to_notify;
}

bool advance_active_call(struct call* call, enum advance_mode mode) {
    const int status = call->advance(call, mode, &call->is_complete);
    call->is_complete = call->is_complete || status != MPI_SUCCESS;
    return call->is_complete;
}

struct call* advance_active_calls(struct process_state* process) {
    bool any_complete = false;
    for (struct call* call = process->active; call != NULL; call = call->next)
        any_complete = advance_active_call(call, testing) || any_complete;
    return any_complete ? remove_complete_calls(process) : NULL;
}

// ---- callers do not hold the mutex -------------------------------------------------------------------------------

void notify_complete(struct call* call) {
    while (call != NULL) {
        struct call* next = call->next;  // the callback may free the call
        call->on_complete(call->on_complete_data);
        call = next;
    }
}

bool drive_active_calls(struct process_state* process) {
    lock_process(process);
    struct call* to_notify = advance_active_calls(process);
    const bool any_active = process->active != NULL;
    unlock_process(process);
    notify_complete(to_notify);
    return any_active;
}

bool has_other_active_calls(struct process_state* process, const struct call* call) {
    lock_process(process);
    const struct call* first = process->active;
    const bool has_others = first != NULL && (first != call || call->next != NULL);
    unlock_process(process);
    return has_others;
}

int finish_call(struct call* call) {
    struct process_state* process = call->state->process;
    bool done = false;
    int status = MPI_SUCCESS;
    while (status == MPI_SUCCESS && !done) {
        const bool may_block = !has_other_active_calls(process, call);
        status = call->advance(call, may_block ? waiting : testing, &done);
        if (may_block || done) continue;
        drive_active_calls(process);
        sched_yield();
    }
    return status;
}
