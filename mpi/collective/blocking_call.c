// SPDX-License-Identifier: BSD-3-Clause
// Blocking calls. Only these are timed and traced.
#include <sched.h>

#include "collective.h"
#include "fence.h"

/// Runs a barrier during which active calls advance, because other ranks may have to finish these calls first.
static int wait_for_all_ranks(const struct call* call) {
    MPI_Request request = MPI_REQUEST_NULL;
    int status = PMPI_Ibarrier(call->state->duplicate, &request);
    for (int done = 0; status == MPI_SUCCESS && !done;) {
        status = PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done) break;
        drive_active_calls(call->state->process);
        sched_yield();
    }
    return status;
}

/// Writes the trace of a call. Collective: either all ranks have traced the call or none.
static int write_call_trace(const struct call* call) {
    struct trace* trace = call->state->trace;
    if (call->run == NULL || trace == NULL || call->run->trace != trace) return MPI_SUCCESS;
    const struct plan_key* key = &call->run->plan->key;
    const struct traced_call traced = {
        .operation = call->arguments.name, .schedule = key->schedule, .bytes = key->units * key->unit_bytes};
    end_trace(trace);
    const int status = wait_for_all_ranks(call);
    return status == MPI_SUCCESS ? write_trace(trace, &traced, call->state->duplicate, call->tag) : status;
}

int run_blocking_call(const struct arguments* arguments) {
    struct call call = {.arguments = *arguments, .is_blocking = true};
    const int begun = begin_call(&call);
    if (begun != MPI_SUCCESS) return begun;
    const int finished = finish_call(&call);
    int status = MPI_SUCCESS;
    // collective, so called even after an error on this rank: other ranks may have succeeded
    if (call.is_prepared && call.is_timed) status = record_time(&call);
    if (call.is_prepared && status == MPI_SUCCESS) status = write_call_trace(&call);
    end_call(&call);
    return finished != MPI_SUCCESS ? finished : status;
}
