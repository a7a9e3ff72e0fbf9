// SPDX-License-Identifier: BSD-3-Clause
// A generalized request of MPI, which the thread of progress.h completes: the program may wait for it by any call of MPI.
//
// A receive from oneself would do, but MPICH 4.0 does not notice that another thread has sent what MPI_Wait waits for.
#include "stand_in.h"

#include <stdlib.h>

#include "preload.h"

struct stand_in {
    topoloom_request ours;  // until it is complete
    MPI_Request theirs;
    bool ends_program;  // an error on the communicator
    atomic_int failed;  // the error of ours
};

atomic_int stand_ins;

// MPI may hold locks of its own while it calls these functions, so that they must leave it alone.

static int query(void* extra, MPI_Status* status) {
    struct stand_in* one = extra;
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    return atomic_load(&one->failed);
}

static int forget(void* extra) {
    free(extra);
    atomic_fetch_sub(&stand_ins, 1);
    return MPI_SUCCESS;
}

/// MPI forbids to cancel collectives.
static int cancel(void* extra, int complete) {
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

static void complete(void* extra) {
    struct stand_in* one = extra;
    MPI_Request theirs = one->theirs;
    const struct call* call = &one->ours->call;
    if (call->error != MPI_SUCCESS && one->ends_program) abort_with_call_error(call);
    atomic_store(&one->failed, consume_status(&one->ours));
    PMPI_Grequest_complete(theirs);  // from here on the program may free the stand-in
}

static struct stand_in* make_stand_in(topoloom_request ours) {
    struct stand_in* one = calloc(1, sizeof *one);
    if (one == NULL) return NULL;
    if (PMPI_Grequest_start(query, forget, cancel, one, &one->theirs) != MPI_SUCCESS) {
        free(one);
        return NULL;
    }
    atomic_fetch_add(&stand_ins, 1);
    one->ours = ours;
    one->ends_program = is_fatal(ours->call.arguments.comm);
    return one;
}

int hand_over(int started, topoloom_request* ours, MPI_Request* request) {
    if (started != MPI_SUCCESS) return started;
    struct stand_in* one = make_stand_in(*ours);
    *request = one == NULL ? MPI_REQUEST_NULL : one->theirs;
    if (one == NULL) return topoloom_wait(ours, MPI_STATUS_IGNORE);  // a null request is complete
    notify_when_complete(*ours, complete, one);
    return MPI_SUCCESS;
}
