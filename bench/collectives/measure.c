// SPDX-License-Identifier: BSD-3-Clause
// Times collectives, MPI's own and libtopoloom-collective's, in one job, and writes JSON Lines.
//
// Usage: measure REPEATS FILE. A line of the file is `FORM OPERATION BYTES SETTING`: bytes of a pair of ranks, of a rank or of
// the whole vector; the setting is `mpi`, or what TOPOLOOM_COLLECTIVES is to be. The forms:
//   blocking    a call
//   persistent  start and wait of one that was made before
//   overlapped  a non-blocking one tested while as long as four blocking ones is computed; its time is without that
// All ranks start at the same time of a clock that is the same everywhere, and a call takes until the last has ended.
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common_start.h"
#include "topoloom_collective.h"

enum { computed_calls = 4, tests = 400 };

struct call {
    bool ours;
    int bytes;
    char *in, *out;
    MPI_Comm comm;
    topoloom_request request;
};

static int all_to_all(const struct call* c) {
    return (c->ours ? topoloom_alltoall : MPI_Alltoall)(c->in, c->bytes, MPI_BYTE, c->out, c->bytes, MPI_BYTE,
                                                        c->comm);
}

static int make_all_to_all(struct call* c) {
    return topoloom_alltoall_init(c->in, c->bytes, MPI_BYTE, c->out, c->bytes, MPI_BYTE, c->comm,
                                  MPI_INFO_NULL, &c->request);
}

static int all_gather(const struct call* c) {
    return (c->ours ? topoloom_allgather : MPI_Allgather)(c->in, c->bytes, MPI_BYTE, c->out, c->bytes,
                                                          MPI_BYTE, c->comm);
}

static int make_all_gather(struct call* c) {
    return topoloom_allgather_init(c->in, c->bytes, MPI_BYTE, c->out, c->bytes, MPI_BYTE, c->comm,
                                   MPI_INFO_NULL, &c->request);
}

static int all_reduce(const struct call* c) {
    return (c->ours ? topoloom_allreduce : MPI_Allreduce)(c->in, c->out, c->bytes / (int)sizeof(double),
                                                          MPI_DOUBLE, MPI_SUM, c->comm);
}

static int make_all_reduce(struct call* c) {
    return topoloom_allreduce_init(c->in, c->out, c->bytes / (int)sizeof(double), MPI_DOUBLE, MPI_SUM,
                                   c->comm, MPI_INFO_NULL, &c->request);
}

static int broadcast(const struct call* c) {
    return (c->ours ? topoloom_bcast : MPI_Bcast)(c->in, c->bytes, MPI_BYTE, 0, c->comm);
}

static int make_broadcast(struct call* c) {
    return topoloom_bcast_init(c->in, c->bytes, MPI_BYTE, 0, c->comm, MPI_INFO_NULL, &c->request);
}

static int reduce(const struct call* c) {
    return (c->ours ? topoloom_reduce : MPI_Reduce)(c->in, c->out, c->bytes / (int)sizeof(double), MPI_DOUBLE,
                                                    MPI_SUM, 0, c->comm);
}

static int make_reduce(struct call* c) {
    return topoloom_reduce_init(c->in, c->out, c->bytes / (int)sizeof(double), MPI_DOUBLE, MPI_SUM, 0,
                                c->comm, MPI_INFO_NULL, &c->request);
}

static const struct operation {
    const char* name;
    int (*run)(const struct call*);
    int (*make)(struct call*);
    bool in_by_rank, out_by_rank;  // whether a buffer has a block for each rank
} operations[] = {
    {"all-to-all", all_to_all, make_all_to_all, true, true},
    {"all-gather", all_gather, make_all_gather, false, true},
    {"all-reduce", all_reduce, make_all_reduce, false, false},
    {"broadcast", broadcast, make_broadcast, false, false},
    {"reduce", reduce, make_reduce, false, false},
};

static void give_up(const char* what, const char* name) {
    fprintf(stderr, "measure: there is no %s '%s'; see the top of measure.c\n", what, name);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

static const struct operation* find(const char* name) {
    for (size_t i = 0; i < sizeof operations / sizeof *operations; ++i)
        if (strcmp(operations[i].name, name) == 0) return &operations[i];
    give_up("operation", name);
    return NULL;
}

static double blocking(const struct operation* operation, struct call* call) {
    const double start = common_start();
    operation->run(call);
    return latest(MPI_Wtime()) - start;
}

static double persistent(const struct operation* operation, struct call* call) {
    (void)operation;
    const double start = common_start();
    topoloom_start(&call->request);
    topoloom_wait(&call->request, MPI_STATUS_IGNORE);
    return latest(MPI_Wtime()) - start;
}

static double overlapped(const struct operation* operation, struct call* call) {
    const double span = computed_calls * blocking(operation, call), start = common_start();
    int done = 0;
    topoloom_start(&call->request);
    for (int i = 0; i < tests; ++i) {
        if (!done) topoloom_test(&call->request, &done, MPI_STATUS_IGNORE);
        wait_until(MPI_Wtime() + span / tests);  // computes
    }
    topoloom_wait(&call->request, MPI_STATUS_IGNORE);
    return latest(MPI_Wtime()) - start - span;
}

typedef double measure_form(const struct operation* operation, struct call* call);
static measure_form* find_form(const char* name) {
    if (strcmp(name, "blocking") == 0) return blocking;
    if (strcmp(name, "persistent") == 0) return persistent;
    if (strcmp(name, "overlapped") == 0) return overlapped;
    give_up("form", name);
    return NULL;
}

static void measure(const char* form, const char* name, const char* setting, int repeats, struct call call) {
    const struct operation* operation = find(name);
    measure_form* run = find_form(form);
    int rank, ranks;
    MPI_Comm_rank(call.comm, &rank);
    MPI_Comm_size(call.comm, &ranks);
    const size_t size = (size_t)call.bytes, all = size * (size_t)ranks;
    call.in = calloc(1, operation->in_by_rank ? all : size);
    call.out = malloc(operation->out_by_rank ? all : size);
    if (run != blocking) operation->make(&call);
    if (rank == 0)
        printf("{\"form\": \"%s\", \"operation\": \"%s\", \"bytes\": %d, \"setting\": \"%s\", \"seconds\": [",
               form, name, call.bytes, setting);
    for (int i = 0; i < repeats; ++i) {
        const double seconds = run(operation, &call);
        if (rank == 0) printf("%s%.9g", i > 0 ? ", " : "", seconds);
    }
    if (rank == 0) puts("]}");
    fflush(stdout);
    if (run != blocking) topoloom_request_free(&call.request);
    free(call.in);
    free(call.out);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    FILE* file = argc == 3 ? fopen(argv[2], "r") : NULL;
    if (file == NULL) {
        fputs("measure: give the number of repeats and a file of cases that can be read\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 2);
        return 2;
    }
    char form[32], name[32], setting[4096], last[4096] = "mpi";
    int bytes;
    MPI_Comm comm = MPI_COMM_WORLD;
    while (fscanf(file, "%31s %31s %d %4095s", form, name, &bytes, setting) == 4) {
        const bool ours = strcmp(setting, "mpi") != 0;
        if (strcmp(setting, last) != 0) {
            if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
            comm = MPI_COMM_WORLD;
            if (ours) {
                MPI_Comm_dup(MPI_COMM_WORLD, &comm);
                setenv("TOPOLOOM_COLLECTIVES", setting, 1);
                topoloom_barrier(comm);  // the first call sets up
            }
            strcpy(last, setting);
        }
        measure(form, name, setting, atoi(argv[1]),
                (struct call){.ours = ours, .bytes = bytes, .comm = comm});
    }
    fclose(file);
    if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
    return MPI_Finalize();
}
