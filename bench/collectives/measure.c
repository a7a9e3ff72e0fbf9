// SPDX-License-Identifier: BSD-3-Clause
// Times collectives of MPI and of libtopoloom-collective in one job; writes JSON Lines.
//
// Usage: measure REPEATS FILE. A line of the file is `FORM OPERATION BYTES SETTING`: bytes per pair of ranks,
// per rank or of the whole vector; SETTING is `mpi`, or the value of TOPOLOOM_COLLECTIVES. The forms:
//   blocking    a blocking call
//   persistent  start and wait of an existing request
//   overlapped  a non-blocking call, tested during a computation that takes as long as four blocking
//               calls; the time of the computation is subtracted
// All ranks start at the same time of a synchronized clock; a call is timed until the last rank returns.
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common_start.h"
#include "our_operations.h"
#include "topoloom_collective.h"

enum { computed_calls = 4, tests = 400 };

typedef int init_call(const struct buffers*, topoloom_request*);

static int init_alltoall(const struct buffers* b, topoloom_request* request) {
    return topoloom_alltoall_init(b->in, b->count, b->type, b->out, b->count, b->type, b->comm, MPI_INFO_NULL,
                                  request);
}

static int init_allgather(const struct buffers* b, topoloom_request* request) {
    return topoloom_allgather_init(b->in, b->count, b->type, b->out, b->count, b->type, b->comm,
                                   MPI_INFO_NULL, request);
}

static int init_allreduce(const struct buffers* b, topoloom_request* request) {
    return topoloom_allreduce_init(b->in, b->out, b->count, b->type, b->op, b->comm, MPI_INFO_NULL, request);
}

static int init_bcast(const struct buffers* b, topoloom_request* request) {
    return topoloom_bcast_init(b->out, b->count, b->type, b->root, b->comm, MPI_INFO_NULL, request);
}

static int init_reduce(const struct buffers* b, topoloom_request* request) {
    return topoloom_reduce_init(b->in, b->out, b->count, b->type, b->op, b->root, b->comm, MPI_INFO_NULL,
                                request);
}

static const struct made {
    const char* name;
    init_call* make;
} made[] = {
    {"alltoall", init_alltoall}, {"allgather", init_allgather}, {"allreduce", init_allreduce},
    {"bcast", init_bcast},       {"reduce", init_reduce},
};

static void exit_with_error(const char* what, const char* name) {
    fprintf(stderr, "measure: there is no %s '%s'; see the top of measure.c\n", what, name);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

static init_call* find_init_function(const char* name) {
    for (size_t i = 0; i < sizeof made / sizeof *made; ++i)
        if (strcmp(made[i].name, name) == 0) return made[i].make;
    exit_with_error("persistent", name);
    return NULL;
}

struct call {
    collective_call* run;
    struct buffers buffers;
    topoloom_request request;
};

static double time_blocking(struct call* call) {
    const double start = wait_for_common_start();
    call->run(&call->buffers);
    return find_latest(MPI_Wtime()) - start;
}

static double time_persistent(struct call* call) {
    const double start = wait_for_common_start();
    topoloom_start(&call->request);
    topoloom_wait(&call->request, MPI_STATUS_IGNORE);
    return find_latest(MPI_Wtime()) - start;
}

static double time_overlapped(struct call* call) {
    const double span = computed_calls * time_blocking(call), start = wait_for_common_start();
    int done = 0;
    topoloom_start(&call->request);
    for (int i = 0; i < tests; ++i) {
        if (!done) topoloom_test(&call->request, &done, MPI_STATUS_IGNORE);
        wait_until(MPI_Wtime() + span / tests);  // computes
    }
    topoloom_wait(&call->request, MPI_STATUS_IGNORE);
    return find_latest(MPI_Wtime()) - start - span;
}

typedef double measure_form(struct call* call);
static measure_form* find_form(const char* name) {
    if (strcmp(name, "blocking") == 0) return time_blocking;
    if (strcmp(name, "persistent") == 0) return time_persistent;
    if (strcmp(name, "overlapped") == 0) return time_overlapped;
    exit_with_error("form", name);
    return NULL;
}

struct test_case {
    char form[32], name[32], setting[4096];
    int bytes;
};

static bool read_case(FILE* file, struct test_case* read) {
    return fscanf(file, "%31s %31s %d %4095s", read->form, read->name, &read->bytes, read->setting) == 4;
}

static bool is_topoloom_setting(const char* setting) { return strcmp(setting, "mpi") != 0; }

static void measure(const struct test_case* one, int repeats, MPI_Comm comm) {
    const struct operation* operation = find_operation(one->name);
    if (operation == NULL) exit_with_error("operation", one->name);
    measure_form* seconds_of = find_form(one->form);
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    struct call call = {.run = is_topoloom_setting(one->setting) ? find_our_operation(one->name)
                                                                 : operation->run};
    if (!make_buffers(&call.buffers, operation, (size_t)one->bytes, ranks))
        exit_with_error("memory for", one->name);
    set_block(&call.buffers, operation, one->bytes);
    call.buffers.comm = comm;
    if (seconds_of != time_blocking) find_init_function(one->name)(&call.buffers, &call.request);
    if (rank == 0)
        printf("{\"form\": \"%s\", \"operation\": \"%s\", \"bytes\": %d, \"setting\": \"%s\", \"seconds\": [",
               one->form, one->name, one->bytes, one->setting);
    for (int i = 0; i < repeats; ++i) {
        const double seconds = seconds_of(&call);
        if (rank == 0) printf("%s%.9g", i > 0 ? ", " : "", seconds);
    }
    if (rank == 0) puts("]}");
    fflush(stdout);
    if (seconds_of != time_blocking) topoloom_request_free(&call.request);
    free_buffers(&call.buffers);
}

/// Creates a communicator per setting; the library reads the setting in the communicator's first call.
static void change_setting(MPI_Comm* comm, const char* setting) {
    if (*comm != MPI_COMM_WORLD) MPI_Comm_free(comm);
    *comm = MPI_COMM_WORLD;
    if (!is_topoloom_setting(setting)) return;
    MPI_Comm_dup(MPI_COMM_WORLD, comm);
    setenv("TOPOLOOM_COLLECTIVES", setting, 1);
    topoloom_barrier(*comm);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    FILE* file = argc == 3 ? fopen(argv[2], "r") : NULL;
    if (file == NULL) {
        fputs("measure: give the number of repeats and a file of cases that can be read\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 2);
        return 2;
    }
    struct test_case one;
    char last[sizeof one.setting] = "mpi";
    MPI_Comm comm = MPI_COMM_WORLD;
    while (read_case(file, &one)) {
        if (strcmp(one.setting, last) != 0) change_setting(&comm, one.setting);
        strcpy(last, one.setting);
        measure(&one, atoi(argv[1]), comm);
    }
    fclose(file);
    if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
    return MPI_Finalize();
}
