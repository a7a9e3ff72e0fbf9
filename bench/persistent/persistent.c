// SPDX-License-Identifier: BSD-3-Clause
// Times collectives alternately in one job: our one-shot and persistent calls, and MPI's blocking and
// persistent calls.
// Usage: persistent ROUNDS SECONDS BYTES...; prints JSON: seconds per call of each kind in each round.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <topoloom_collective.h>
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define MPI_PERSISTENT(name) MPIX_##name##_init
#else
#define MPI_PERSISTENT(name) MPI_##name##_init
#endif

enum operation { alltoall, allgather, allreduce, bcast, operation_count };
enum kind { our_one_shot, our_persistent, mpi_blocking, mpi_persistent, kind_count };
static const char* const operations[] = {"alltoall", "allgather", "allreduce", "bcast"};

struct persistent_call {
    enum operation operation;
    int bytes, doubles;  // bytes per block, or per vector
    char *in, *out;
    topoloom_request ours;
    MPI_Request theirs;
};

#define ALLTOALL one->in, one->bytes, MPI_BYTE, one->out, one->bytes, MPI_BYTE, MPI_COMM_WORLD
#define ALLGATHER ALLTOALL
#define ALLREDUCE one->in, one->out, one->doubles, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD
#define BCAST one->out, one->bytes, MPI_BYTE, 0, MPI_COMM_WORLD
#define EACH_OPERATION(DO)              \
    DO(alltoall, Alltoall, ALLTOALL)    \
    DO(allgather, Allgather, ALLGATHER) \
    DO(allreduce, Allreduce, ALLREDUCE) \
    DO(bcast, Bcast, BCAST)

static void init_request(struct persistent_call* one) {
    switch (one->operation) {
#define DO(name, Name, arguments)                                     \
    case name:                                                        \
        topoloom_##name##_init(arguments, MPI_INFO_NULL, &one->ours); \
        MPI_PERSISTENT(Name)(arguments, MPI_INFO_NULL, &one->theirs); \
        break;
        EACH_OPERATION(DO)
#undef DO
        default:
            break;
    }
}

static void call_one_shot(struct persistent_call* one, enum kind kind) {
    switch (one->operation) {
#define DO(name, Name, arguments)       \
    case name:                          \
        if (kind == our_one_shot) {     \
            topoloom_##name(arguments); \
        } else {                        \
            MPI_##Name(arguments);      \
        }                               \
        break;
        EACH_OPERATION(DO)
#undef DO
        default:
            break;
    }
}

static void start_and_wait(struct persistent_call* one, enum kind kind) {
    switch (kind) {
        case our_persistent:
            topoloom_start(&one->ours);
            topoloom_wait(&one->ours, MPI_STATUS_IGNORE);
            break;
        case mpi_persistent:
            MPI_Start(&one->theirs);
            MPI_Wait(&one->theirs, MPI_STATUS_IGNORE);
            break;
        default:
            call_one_shot(one, kind);
    }
}

/// Returns the seconds per call on the slowest rank.
static double time_calls(struct persistent_call* one, enum kind kind, int calls) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < calls; ++i) start_and_wait(one, kind);
    const double own = (MPI_Wtime() - start) / calls;
    double slowest = 0;
    MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

static void measure(struct persistent_call* one, int rounds, double seconds) {
    int rank = 0, calls = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    init_request(one);
    for (enum kind kind = 0; kind < kind_count; ++kind) time_calls(one, kind, 10);
    while (calls < 1 << 20 && time_calls(one, mpi_blocking, calls) * calls < seconds) calls *= 2;
    if (rank == 0)
        printf("{\"operation\": \"%s\", \"bytes\": %d, \"rounds\": [", operations[one->operation],
               one->bytes);
    for (int round = 0; round < rounds; ++round) {
        double took[kind_count];
        for (int i = 0; i < kind_count; ++i) {
            const enum kind kind = (enum kind)((round + i) % kind_count);
            took[kind] = time_calls(one, kind, calls);
        }
        if (rank == 0)
            printf("%s[%.9g, %.9g, %.9g, %.9g]", round == 0 ? "" : ", ", took[our_one_shot],
                   took[our_persistent], took[mpi_blocking], took[mpi_persistent]);
    }
    if (rank == 0) printf("]}\n");
    fflush(stdout);
    topoloom_request_free(&one->ours);
    MPI_Request_free(&one->theirs);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 3; i < argc; ++i) {
        const int bytes = atoi(argv[i]);
        char* in = calloc((size_t)ranks, (size_t)bytes);
        char* out = calloc((size_t)ranks, (size_t)bytes);
        for (enum operation operation = 0; operation < operation_count; ++operation) {
            struct persistent_call one = {.operation = operation,
                                          .bytes = bytes,
                                          .doubles = bytes / (int)sizeof(double),
                                          .in = in,
                                          .out = out};
            measure(&one, atoi(argv[1]), atof(argv[2]));
        }
        free(in);
        free(out);
    }
    MPI_Finalize();
    return 0;
}
