// SPDX-License-Identifier: BSD-3-Clause
// Unusual uses of MPI's non-blocking collectives. Rank 0 prints the number of errors on all ranks.
// Usage: unusual_starts nulls | truncated | faults | attributes | again | fortran | leaving
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int rank, ranks;
static pthread_t own;
static volatile int handled, foreign;

/// Waits for requests, some of them null.
static int wait_for_null_requests(void) {
    int wrong = 0;
    for (int call = 0; call < 40; ++call) {
        int in[2] = {rank, call}, out[2] = {-1, -1};
        MPI_Request requests[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        MPI_Status statuses[4];
        MPI_Iallreduce(&in[0], &out[0], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[call % 4]);
        if (call % 3 > 0)
            MPI_Iallreduce(&in[1], &out[1], 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &requests[(call + 2) % 4]);
        const int status = MPI_Waitall(4, requests, call % 2 ? statuses : MPI_STATUSES_IGNORE);
        wrong += status != MPI_SUCCESS || out[0] != ranks * (ranks - 1) / 2;
        wrong += call % 3 > 0 && out[1] != call;
        for (int i = 0; i < 4; ++i) wrong += requests[i] != MPI_REQUEST_NULL;
    }
    return wrong;
}

static void record_error(MPI_Comm* comm, int* error, ...) {
    (void)comm, (void)error;
    ++handled;
    foreign += !pthread_equal(own, pthread_self());
}

/// Rank 0 sends more than the other ranks receive; their wait returns the error.
static int truncate_message(void) {
    int wrong = 0, in[8] = {0}, out[8];
    for (int call = 0; call < 2; ++call) {
        MPI_Comm comm;
        MPI_Errhandler handler;
        MPI_Request request;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_create_errhandler(record_error, &handler);
        MPI_Comm_set_errhandler(comm, handler);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        MPI_Barrier(comm);
        MPI_Ibcast(rank == 0 ? in : out, rank == 0 ? 8 : 4, MPI_INT, 0, comm, &request);
        if (call == 1) MPI_Comm_free(&comm);
        const int status = MPI_Wait(&request, MPI_STATUS_IGNORE);
        wrong += (status != MPI_SUCCESS) != (rank > 0);
        if (call == 0) MPI_Comm_free(&comm);
        MPI_Errhandler_free(&handler);
    }
    return wrong + foreign;
}

static char* memory;
static void make_writable(int signal, siginfo_t* info, void* context) {
    (void)signal, (void)context;
    if ((char*)info->si_addr < memory || (char*)info->si_addr >= memory + 4096) _exit(9);
    ++handled;
    mprotect(memory, 4096, PROT_READ | PROT_WRITE);
}

/// A signal handler makes the buffer writable on the first write, by any thread.
static int handle_page_faults(void) {
    int in[4] = {rank, rank, rank, rank};
    MPI_Request request;
    memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct sigaction action = {.sa_sigaction = make_writable, .sa_flags = SA_SIGINFO}, before;
    sigaction(SIGSEGV, &action, &before);
    mprotect(memory, 4096, PROT_READ);
    MPI_Iallreduce(in, memory, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    usleep(1000);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    sigaction(SIGSEGV, &before, NULL);
    int sum = 0;
    memcpy(&sum, memory, sizeof sum);
    return sum != ranks * (ranks - 1) / 2;
}

static int copy_attribute(MPI_Datatype type, int key, void* extra, void* value, void* copy, int* flag) {
    (void)type, (void)key, (void)extra;
    ++handled;
    *(void**)copy = value;
    *flag = 1;
    return MPI_SUCCESS;
}

/// Datatypes with an attribute, as libraries use them.
static int use_type_with_attribute(void) {
    MPI_Datatype type;
    MPI_Request request;
    int key, in[4] = {rank}, out[64];
    MPI_Type_create_keyval(copy_attribute, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_set_attr(type, key, &key);
    MPI_Iallgather(in, 1, type, out, 2, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
    MPI_Type_free_keyval(&key);
    return handled + (out[2 * (ranks - 1)] != ranks - 1);
}

/// One rank corrects and repeats a call that returned an error.
static int repeat_failed_call(void) {
    MPI_Datatype type;
    MPI_Request request;
    int in[4] = {rank}, out[64];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    if (rank != 1) MPI_Type_commit(&type);
    if (MPI_Iallgather(in, 1, type, out, 2, MPI_INT, MPI_COMM_WORLD, &request) != MPI_SUCCESS) {
        MPI_Type_commit(&type);
        MPI_Iallgather(in, 1, type, out, 2, MPI_INT, MPI_COMM_WORLD, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
    return out[2 * (ranks - 1)] != ranks - 1;
}

/// Uses a Fortran datatype that MPI creates on demand.
static int use_fortran_type(void) {
    MPI_Datatype type;
    MPI_Request request;
    float one = 1, sum = 0;
    MPI_Type_create_f90_real(6, MPI_UNDEFINED, &type);
    MPI_Iallreduce(&one, &sum, 1, type, MPI_SUM, MPI_COMM_WORLD, &request);
    const int status = MPI_Wait(&request, MPI_STATUS_IGNORE);
    return status != MPI_SUCCESS || sum != (float)ranks;
}

static int reduce_in_finalize(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)value, (void)extra;
    int one = 1, all = 0;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (all != ranks) _exit(9);
    return MPI_SUCCESS;
}

int main(int argc, char** argv) {
    (void)argc;
    int level = 0, all = 0, wrong = -1, key;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    own = pthread_self();
    const char* what = argv[1];
    // Called by MPI_Finalize: on some ranks before, on others after the state of the first
    // collective is freed.
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, reduce_in_finalize, &key, NULL);
    if (strcmp(what, "leaving") == 0) wrong = 0;
    if (wrong == 0 && rank == 0) MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (wrong == 0 && rank > 0) MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    if (strcmp(what, "nulls") == 0) wrong = wait_for_null_requests();
    if (strcmp(what, "truncated") == 0) wrong = truncate_message();
    if (strcmp(what, "faults") == 0) wrong = handle_page_faults();
    if (strcmp(what, "attributes") == 0) wrong = use_type_with_attribute();
    if (strcmp(what, "again") == 0) wrong = repeat_failed_call();
    if (strcmp(what, "fortran") == 0) wrong = use_fortran_type();
    PMPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d wrong\n", all);
    MPI_Finalize();
    return 0;
}
