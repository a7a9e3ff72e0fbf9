// SPDX-License-Identifier: BSD-3-Clause
// The progress thread completes the generalized request, so that the program may wait for it by any function of MPI.
//
// A receive from the process itself would also do, but in MPICH 4.0 MPI_Wait does not notice that another thread has sent
// the message.
#include "generalized_requests.h"

#include <stdlib.h>

#include "preload.h"

struct stand_in {
    topoloom_request ours;  // until it completes
    MPI_Request theirs;
    bool ends_program;  // the communicator has MPI_ERRORS_ARE_FATAL
    atomic_int failed;  // our error code
};

atomic_int generalized_requests;

// MPI may hold its locks during these callbacks, so they must not call it for anything that could block.

static int query(void* extra, MPI_Status* status) {
    struct stand_in* one = extra;
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    return atomic_load(&one->failed);
}

static int free_extra(void* extra) {
    free(extra);
    atomic_fetch_sub(&generalized_requests, 1);
    return MPI_SUCCESS;
}

/// MPI does not allow programs to cancel collectives.
static int cancel(void* extra, int complete) {
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

static void complete(void* extra) {
    struct stand_in* one = extra;
    MPI_Request theirs = one->theirs;
    const struct call* call = &one->ours->call;
    if (call->failed != MPI_SUCCESS && one->ends_program) end_program(call);
    atomic_store(&one->failed, take_outcome(&one->ours));
    PMPI_Grequest_complete(theirs);  // from here on the program may free `one`
}

static struct stand_in* make_stand_in(topoloom_request ours) {
    struct stand_in* one = calloc(1, sizeof *one);
    if (one == NULL) return NULL;
    if (PMPI_Grequest_start(query, free_extra, cancel, one, &one->theirs) != MPI_SUCCESS) {
        free(one);
        return NULL;
    }
    atomic_fetch_add(&generalized_requests, 1);
    one->ours = ours;
    one->ends_program = is_fatal(ours->call.asked.comm);
    return one;
}

int return_request(int status, topoloom_request* ours, MPI_Request* request) {
    if (status != MPI_SUCCESS) return status;
    struct stand_in* one = make_stand_in(*ours);
    *request = one == NULL ? MPI_REQUEST_NULL : one->theirs;
    if (one == NULL) return topoloom_wait(ours, MPI_STATUS_IGNORE);  // a null request is complete
    when_complete(*ours, complete, one);
    return MPI_SUCCESS;
}
