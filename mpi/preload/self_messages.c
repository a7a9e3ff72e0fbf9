// SPDX-License-Identifier: BSD-3-Clause
// Starting the receive also starts our request. When that completes, the progress thread sends the message, so that the
// program may wait for it by any function of MPI.
#include "self_messages.h"

#include <stdlib.h>

#include "preload.h"

#if HAS_SELF_MESSAGES
struct token {
    struct token* next;
    MPI_Request theirs;
    topoloom_request ours;
    int tag;            // unique, kept for reuse
    bool ends_program;  // the communicator has MPI_ERRORS_ARE_FATAL
};

enum { chain_bits = 6 };

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
// Protected by `guard`.
static struct token *chains[1 << chain_bits], *spare;
static int made_tokens;
static MPI_Comm self = MPI_COMM_NULL;

/// The number of tokens; while it is 0, starting any request needs no search.
static atomic_int tokens;

static struct token** chain_of(MPI_Request request) {
    return &chains[(uintptr_t)request * 0x9e3779b97f4a7c15 >> (64 - chain_bits)];
}

static struct token* find_token(const MPI_Request* request, bool is_removed) {
    if (atomic_load_explicit(&tokens, memory_order_relaxed) == 0 || request == NULL) return NULL;
    pthread_mutex_lock(&guard);
    struct token** at = chain_of(*request);
    while (*at != NULL && (*at)->theirs != *request) at = &(*at)->next;
    struct token* found = *at;
    if (found != NULL && is_removed) *at = found->next;
    pthread_mutex_unlock(&guard);
    return found;
}

static struct token* take_spare(void) {
    struct token* one = spare != NULL ? spare : calloc(1, sizeof *one);
    if (one != NULL && one == spare)
        spare = one->next;
    else if (one != NULL)
        one->tag = made_tokens++;
    return one;
}

static void give_back(struct token* one) {
    one->next = spare;
    spare = one;
}

/// A message longer than the receive signals an error: MPI returns it from the wait.
static bool open_self(void) {
    if (self != MPI_COMM_NULL) return true;
    if (PMPI_Comm_dup(MPI_COMM_SELF, &self) != MPI_SUCCESS) return false;
    PMPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
    return true;
}

static struct token* make_token(topoloom_request ours) {
    pthread_mutex_lock(&guard);
    struct token* one = open_self() ? take_spare() : NULL;
    if (one != NULL && PMPI_Recv_init(NULL, 0, MPI_CHAR, 0, one->tag, self, &one->theirs) != MPI_SUCCESS) {
        give_back(one);
        one = NULL;
    }
    if (one != NULL) {
        one->ours = ours;
        one->ends_program = is_fatal(ours->call.asked.comm);
        struct token** chain = chain_of(one->theirs);
        one->next = *chain;
        *chain = one;
        atomic_fetch_add(&tokens, 1);
    }
    pthread_mutex_unlock(&guard);
    return one;
}

static void complete(void* extra) {
    struct token* one = extra;
    const struct call* call = &one->ours->call;
    if (call->failed != MPI_SUCCESS && one->ends_program) end_program(call);
    const int tag = one->tag;
    const char excess = 0;
    const int length = take_outcome(&one->ours) != MPI_SUCCESS;
    PMPI_Send(&excess, length, MPI_CHAR, 0, tag, self);  // from here on the program may free the token
}

int return_persistent_request(int status, topoloom_request* ours, MPI_Request* request) {
    if (status != MPI_SUCCESS) return status;
    struct token* one = make_token(*ours);
    if (one == NULL) {
        const MPI_Comm comm = (*ours)->call.asked.comm;
        const char* name = (*ours)->call.asked.name;
        topoloom_request_free(ours);
        return raise_error(comm, MPI_ERR_NO_MEM, name, "not enough memory");
    }
    *request = one->theirs;
    when_complete(one->ours, complete, one);
    return MPI_SUCCESS;
}

// ---- starting and freeing requests ---------------------------------------------------------------------------------
// Fortran bindings call the PMPI names.

typedef int request_function(MPI_Request* request);
typedef int requests_function(int count, MPI_Request requests[]);

static int start_with(request_function* next, MPI_Request* request) {
    struct token* one = find_token(request, false);
    const int status = next(request);
    return one != NULL && status == MPI_SUCCESS ? topoloom_start(&one->ours) : status;
}

static int start_all_with(requests_function* next_all, int count, MPI_Request requests[]) {
    bool any = false;
    for (int i = 0; i < count && requests != NULL && !any; ++i) any = find_token(&requests[i], false) != NULL;
    if (!any) return next_all(count, requests);
    NEXT_OF(PMPI_Start);
    int status = MPI_SUCCESS;
    for (int i = 0; i < count && status == MPI_SUCCESS; ++i) status = start_with(next, &requests[i]);
    return status;
}

static int free_with(request_function* next, MPI_Request* request) {
    struct token* one = find_token(request, true);
    if (one == NULL) return next(request);
    topoloom_request_free(&one->ours);
    const int status = next(request);
    pthread_mutex_lock(&guard);
    give_back(one);
    pthread_mutex_unlock(&guard);
    atomic_fetch_sub(&tokens, 1);
    return status;
}

#define WRAP_ONE(name, call)                 \
    SHIM_EXPORT int name(MPI_Request* one) { \
        NEXT_OF(name);                       \
        return call(next, one);              \
    }
#define WRAP_ALL(name)                                   \
    SHIM_EXPORT int name(int count, MPI_Request all[]) { \
        NEXT_OF(name);                                   \
        return start_all_with(next, count, all);         \
    }

WRAP_ONE(MPI_Start, start_with)
WRAP_ONE(PMPI_Start, start_with)
WRAP_ONE(MPI_Request_free, free_with)
WRAP_ONE(PMPI_Request_free, free_with)
WRAP_ALL(MPI_Startall)
WRAP_ALL(PMPI_Startall)
#endif
