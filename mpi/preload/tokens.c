// SPDX-License-Identifier: BSD-3-Clause
// A persistent receive of a process from itself. Its start also starts ours, at whose end the thread of progress.h sends the
// message, so that the program may wait for it by any call of MPI.
#include "tokens.h"

#include <stdlib.h>

#include "preload.h"

#if HAS_TOKENS
struct token {
    struct token* next;
    MPI_Request theirs;
    topoloom_request ours;
    int tag;            // its own, also once it is spare
    bool ends_program;  // an error on the communicator
};

enum { chain_bits = 6 };

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
// Under the guard.
static struct token *chains[1 << chain_bits], *spare;
static int made_tokens;
static MPI_Comm self = MPI_COMM_NULL;

/// Those that there are: without any, a start of another request asks for nothing else.
static atomic_int tokens;

static struct token** chain_of(MPI_Request request) {
    return &chains[(uintptr_t)request * 0x9e3779b97f4a7c15 >> (64 - chain_bits)];
}

static struct token* find_token(const MPI_Request* request, bool takes) {
    if (atomic_load_explicit(&tokens, memory_order_relaxed) == 0 || request == NULL) return NULL;
    pthread_mutex_lock(&guard);
    struct token** at = chain_of(*request);
    while (*at != NULL && (*at)->theirs != *request) at = &(*at)->next;
    struct token* found = *at;
    if (found != NULL && takes) *at = found->next;
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

/// Errors of ours come by messages that are too long: MPI returns them to whoever waits.
static bool has_self(void) {
    if (self != MPI_COMM_NULL) return true;
    if (PMPI_Comm_dup(MPI_COMM_SELF, &self) != MPI_SUCCESS) return false;
    PMPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
    return true;
}

static struct token* make_token(topoloom_request ours) {
    pthread_mutex_lock(&guard);
    struct token* one = has_self() ? take_spare() : NULL;
    if (one != NULL && PMPI_Recv_init(NULL, 0, MPI_CHAR, 0, one->tag, self, &one->theirs) != MPI_SUCCESS) {
        give_back(one);
        one = NULL;
    }
    if (one != NULL) {
        one->ours = ours;
        one->ends_program = is_fatal(ours->call.arguments.comm);
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
    if (call->error != MPI_SUCCESS && one->ends_program) abort_with_call_error(call);
    const int tag = one->tag;
    const char more = 0;
    const int length = consume_status(&one->ours) != MPI_SUCCESS;
    PMPI_Send(&more, length, MPI_CHAR, 0, tag, self);  // from here on the program may free the token
}

int hand_out(int made, topoloom_request* ours, MPI_Request* request) {
    if (made != MPI_SUCCESS) return made;
    struct token* one = make_token(*ours);
    if (one == NULL) {
        const MPI_Comm comm = (*ours)->call.arguments.comm;
        const char* name = (*ours)->call.arguments.name;
        topoloom_request_free(ours);
        return raise_error(comm, MPI_ERR_NO_MEM, name, "not enough memory");
    }
    *request = one->theirs;
    notify_when_complete(one->ours, complete, one);
    return MPI_SUCCESS;
}

// ---- what programs do with requests --------------------------------------------------------------------------------
// Bindings of Fortran come by the names with PMPI.

typedef int of_one(MPI_Request* request);
typedef int of_all(int count, MPI_Request requests[]);

static int start_by(of_one* next, MPI_Request* request) {
    struct token* one = find_token(request, false);
    const int status = next(request);
    return one != NULL && status == MPI_SUCCESS ? topoloom_start(&one->ours) : status;
}

static int start_all_by(of_all* next_all, int count, MPI_Request requests[]) {
    bool any = false;
    for (int i = 0; i < count && requests != NULL && !any; ++i) any = find_token(&requests[i], false) != NULL;
    if (!any) return next_all(count, requests);
    DEFINITION(PMPI_Start);
    int status = MPI_SUCCESS;
    for (int i = 0; i < count && status == MPI_SUCCESS; ++i) status = start_by(next, &requests[i]);
    return status;
}

static int free_by(of_one* next, MPI_Request* request) {
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

#define OF_ONE(name, by)                     \
    SHIM_EXPORT int name(MPI_Request* one) { \
        DEFINITION(name);                    \
        return by(next, one);                \
    }
#define OF_ALL(name)                                     \
    SHIM_EXPORT int name(int count, MPI_Request all[]) { \
        DEFINITION(name);                                \
        return start_all_by(next, count, all);           \
    }

OF_ONE(MPI_Start, start_by)
OF_ONE(PMPI_Start, start_by)
OF_ONE(MPI_Request_free, free_by)
OF_ONE(PMPI_Request_free, free_by)
OF_ALL(MPI_Startall)
OF_ALL(PMPI_Startall)
#endif
