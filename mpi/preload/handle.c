// SPDX-License-Identifier: BSD-3-Clause
// A generalized request of MPI, which the thread of progress.h completes: the program may wait for it by any call of MPI.
#include <stdlib.h>

#include "preload.h"

// MPI may hold locks of its own while it calls these functions, so that they must leave it alone.

/// The error of a call was raised on its communicator when it came up; whoever waits for the request gets it, too.
static int query(void* extra, MPI_Status* status) {
    struct handle* handle = extra;
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    return atomic_load(&handle->failed);
}

static int forget(void* extra) {
    free(extra);
    return MPI_SUCCESS;
}

/// MPI forbids to cancel collectives.
static int cancel(void* extra, int complete) {
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

struct handle* make_handle(MPI_Comm comm) {
    struct handle* handle = calloc(1, sizeof *handle);
    if (handle != NULL) {
        if (PMPI_Grequest_start(query, forget, cancel, handle, &handle->theirs) == MPI_SUCCESS) return handle;
        free(handle);
    }
    raise_error(comm, MPI_ERR_NO_MEM, "a non-blocking collective", "not enough memory");
    return NULL;
}

static void complete(void* extra) {
    struct handle* handle = extra;
    MPI_Request theirs = handle->theirs;
    atomic_store(&handle->failed, topoloom_wait(&handle->ours, MPI_STATUS_IGNORE));  // which frees ours
    PMPI_Grequest_complete(theirs);  // from here on the program may free the handle
}

int hand_over(struct handle* handle, int started, MPI_Request* request) {
    if (started == MPI_SUCCESS) {
        *request = handle->theirs;
        when_complete(handle->ours, complete, handle);
        return started;
    }
    MPI_Request theirs = handle->theirs;
    PMPI_Grequest_complete(theirs);
    PMPI_Wait(&theirs, MPI_STATUS_IGNORE);
    return started;
}
