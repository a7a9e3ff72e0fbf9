// SPDX-License-Identifier: BSD-3-Clause
// Represents our persistent requests by persistent receives from this process. Starting the receive also starts our
// request. When our request completes, the progress thread sends the message. So the program may wait for it
// with any MPI function.
#include "self_messages.h"

#include <stdlib.h>

#include "preload.h"

#if HAS_SELF_MESSAGES
struct self_message {
    struct self_message* next;
    MPI_Request request;
    topoloom_request ours;
    int tag;        // unique message tag, kept when the message is reused
    bool is_fatal;  // the communicator's error handler is MPI_ERRORS_ARE_FATAL
};

enum { chain_bits = 6 };

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
// These variables are protected by `guard`.
static struct self_message *chains[1 << chain_bits], *spare;
static int tag_count;
static MPI_Comm self = MPI_COMM_NULL;

/// Number of messages in use. While it is 0, starting a request requires no search.
static atomic_int message_count;

static struct self_message** get_hash_chain(MPI_Request request) {
    return &chains[(uintptr_t)request * 0x9e3779b97f4a7c15 >> (64 - chain_bits)];
}

static struct self_message* find_message(const MPI_Request* request, bool is_removed) {
    if (atomic_load_explicit(&message_count, memory_order_relaxed) == 0 || request == NULL) return NULL;
    pthread_mutex_lock(&guard);
    struct self_message** at = get_hash_chain(*request);
    while (*at != NULL && (*at)->request != *request) at = &(*at)->next;
    struct self_message* found = *at;
    if (found != NULL && is_removed) *at = found->next;
    pthread_mutex_unlock(&guard);
    return found;
}

static struct self_message* acquire_message(void) {
    struct self_message* message = spare != NULL ? spare : calloc(1, sizeof *message);
    if (message != NULL && message == spare)
        spare = message->next;
    else if (message != NULL)
        message->tag = tag_count++;
    return message;
}

static void recycle_message(struct self_message* message) {
    message->next = spare;
    spare = message;
}

/// Opens the private duplicate of MPI_COMM_SELF. To signal an error, a message is longer than its receive: MPI_Wait
/// then returns the error.
static bool duplicate_self_comm(void) {
    if (self != MPI_COMM_NULL) return true;
    if (PMPI_Comm_dup(MPI_COMM_SELF, &self) != MPI_SUCCESS) return false;
    PMPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
    return true;
}

static struct self_message* create_self_message(topoloom_request ours) {
    pthread_mutex_lock(&guard);
    struct self_message* message = duplicate_self_comm() ? acquire_message() : NULL;
    if (message != NULL &&
        PMPI_Recv_init(NULL, 0, MPI_CHAR, 0, message->tag, self, &message->request) != MPI_SUCCESS) {
        recycle_message(message);
        message = NULL;
    }
    if (message != NULL) {
        message->ours = ours;
        message->is_fatal = is_fatal(ours->call.arguments.comm);
        struct self_message** chain = get_hash_chain(message->request);
        message->next = *chain;
        *chain = message;
        atomic_fetch_add(&message_count, 1);
    }
    pthread_mutex_unlock(&guard);
    return message;
}

static void complete_message(void* extra) {
    struct self_message* message = extra;
    const struct call* call = &message->ours->call;
    if (call->error != MPI_SUCCESS && message->is_fatal) abort_with_call_error(call);
    const int tag = message->tag;
    const char excess = 0;
    const int length = consume_status(&message->ours) != MPI_SUCCESS;
    PMPI_Send(&excess, length, MPI_CHAR, 0, tag, self);  // afterwards the program may free the message object
}

int create_self_message_request(int status, topoloom_request* ours, MPI_Request* request) {
    if (status != MPI_SUCCESS) return status;
    struct self_message* message = create_self_message(*ours);
    if (message == NULL) {
        const MPI_Comm comm = (*ours)->call.arguments.comm;
        const char* name = (*ours)->call.arguments.name;
        topoloom_request_free(ours);
        return raise_error(comm, MPI_ERR_NO_MEM, name, "not enough memory");
    }
    *request = message->request;
    notify_when_complete(message->ours, complete_message, message);
    return MPI_SUCCESS;
}

// ---- starting and freeing requests ---------------------------------------------------------------------------------
// Fortran bindings call the PMPI functions.

typedef int request_function(MPI_Request* request);
typedef int requests_function(int count, MPI_Request requests[]);

static int start_message_request(request_function* next, MPI_Request* request) {
    struct self_message* message = find_message(request, false);
    const int status = next(request);
    return message != NULL && status == MPI_SUCCESS ? topoloom_start(&message->ours) : status;
}

static int start_all_message_requests(requests_function* next_all, int count, MPI_Request requests[]) {
    bool any = false;
    for (int i = 0; i < count && requests != NULL && !any; ++i)
        any = find_message(&requests[i], false) != NULL;
    if (!any) return next_all(count, requests);
    NEXT_OF(PMPI_Start);
    int status = MPI_SUCCESS;
    for (int i = 0; i < count && status == MPI_SUCCESS; ++i)
        status = start_message_request(next, &requests[i]);
    return status;
}

static int free_message_request(request_function* next, MPI_Request* request) {
    struct self_message* message = find_message(request, true);
    if (message == NULL) return next(request);
    topoloom_request_free(&message->ours);
    const int status = next(request);
    pthread_mutex_lock(&guard);
    recycle_message(message);
    pthread_mutex_unlock(&guard);
    atomic_fetch_sub(&message_count, 1);
    return status;
}

#define WRAP_ONE(mpi_function, call)                     \
    SHIM_EXPORT int mpi_function(MPI_Request* request) { \
        NEXT_OF(mpi_function);                           \
        return call(next, request);                      \
    }
#define WRAP_ALL(mpi_function)                                        \
    SHIM_EXPORT int mpi_function(int count, MPI_Request requests[]) { \
        NEXT_OF(mpi_function);                                        \
        return start_all_message_requests(next, count, requests);     \
    }

WRAP_ONE(MPI_Start, start_message_request)
WRAP_ONE(PMPI_Start, start_message_request)
WRAP_ONE(MPI_Request_free, free_message_request)
WRAP_ONE(PMPI_Request_free, free_message_request)
WRAP_ALL(MPI_Startall)
WRAP_ALL(PMPI_Startall)
#endif
