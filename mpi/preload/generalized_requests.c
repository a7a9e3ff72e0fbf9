// SPDX-License-Identifier: BSD-3-Clause
// Represents our non-blocking requests by generalized requests. The progress thread completes them, so that
// the program may wait for them with any MPI function.
//
// A receive from the process itself does not work in MPICH 4.0: MPI_Wait does not notice a message sent by another
// thread.
#include "generalized_requests.h"

#include <stdlib.h>

#include "preload.h"

struct proxy {
    topoloom_request ours;  // our request, which is valid until completion
    MPI_Request request;
    bool is_fatal;     // the communicator's error handler is MPI_ERRORS_ARE_FATAL
    atomic_int error;  // error code of our collective
};

atomic_int generalized_requests;

// MPI may hold locks during these callbacks, so they must not call MPI functions that could block.

static int query_proxy(void* extra, MPI_Status* status) {
    struct proxy* proxy = extra;
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    return atomic_load(&proxy->error);
}

static int free_proxy(void* extra) {
    free(extra);
    atomic_fetch_sub(&generalized_requests, 1);
    return MPI_SUCCESS;
}

/// No effect: MPI does not allow programs to cancel collectives.
static int ignore_cancel(void* extra, int is_complete) {
    (void)extra, (void)is_complete;
    return MPI_SUCCESS;
}

static void complete_proxy(void* extra) {
    struct proxy* proxy = extra;
    MPI_Request request = proxy->request;
    const struct call* call = &proxy->ours->call;
    if (call->error != MPI_SUCCESS && proxy->is_fatal) abort_with_call_error(call);
    atomic_store(&proxy->error, consume_status(&proxy->ours));
    PMPI_Grequest_complete(request);  // afterwards MPI may free the proxy object
}

static struct proxy* create_proxy(topoloom_request ours) {
    struct proxy* proxy = calloc(1, sizeof *proxy);
    if (proxy == NULL) return NULL;
    if (PMPI_Grequest_start(query_proxy, free_proxy, ignore_cancel, proxy, &proxy->request) != MPI_SUCCESS) {
        free(proxy);
        return NULL;
    }
    atomic_fetch_add(&generalized_requests, 1);
    proxy->ours = ours;
    proxy->is_fatal = is_fatal(ours->call.arguments.comm);
    return proxy;
}

int create_generalized_request(int status, topoloom_request* ours, MPI_Request* request) {
    if (status != MPI_SUCCESS) return status;
    struct proxy* proxy = create_proxy(*ours);
    *request = proxy == NULL ? MPI_REQUEST_NULL : proxy->request;
    if (proxy == NULL) return topoloom_wait(ours, MPI_STATUS_IGNORE);  // a null request counts as complete
    notify_when_complete(*ours, complete_proxy, proxy);
    return MPI_SUCCESS;
}
