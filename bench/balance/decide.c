// SPDX-License-Identifier: BSD-3-Clause
// Times decisions. `decide gathered|by_messages REPEATS` prints the median microseconds, from the last rank's
// start to the last rank's end, and the maximum messages per rank and decision (without MPI_Allgather's).
// `decide message REPEATS` prints the microseconds of a message of one number.
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <topoloom_balance.h>

static int sent_messages;

// The linker option --wrap redirects the library's calls to this function.
int __real_PMPI_Isend(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int __wrap_PMPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                      MPI_Request* request) {
    ++sent_messages;
    return __real_PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

static int compare_ascending(const void* a, const void* b) {
    const double left = *(const double*)a, right = *(const double*)b;
    return (left > right) - (left < right);
}

static double measure_median(MPI_Comm comm, int decide, int repeats, int rank, int* most_sent) {
    double* times = malloc((size_t)repeats * sizeof *times);
    const topoloom_balance_options options = {.decide = decide};
    unsigned seed = (unsigned)rank + 1;
    int most = 0;
    for (int i = -1; i < repeats; ++i) {  // the first decision initializes the communicator
        seed = seed * 1664525U + 1013904223U;
        topoloom_plan* plan = NULL;
        MPI_Barrier(comm);
        sent_messages = 0;
        double span[2] = {MPI_Wtime(), 0}, all[2] = {0, 0};  // simulated clocks are synchronized
        topoloom_balance(comm, (seed >> 8) % 48, &options, &plan);
        span[1] = MPI_Wtime();
        if (sent_messages > most) most = sent_messages;
        topoloom_plan_free(&plan);
        MPI_Reduce(span, all, 2, MPI_DOUBLE, MPI_MAX, 0, comm);
        if (i >= 0) times[i] = all[1] - all[0];
    }
    MPI_Reduce(&most, most_sent, 1, MPI_INT, MPI_MAX, 0, comm);
    qsort(times, (size_t)repeats, sizeof *times, compare_ascending);
    const double found = times[repeats / 2];
    free(times);
    return 1e6 * found;
}

/// Returns half of the round-trip time of a message of one number.
static double time_message(int repeats, int rank) {
    long long letter = 0;
    const double start = MPI_Wtime();
    for (int i = 0; i < 2 * repeats && rank < 2; ++i) {
        if (rank == i % 2)
            MPI_Send(&letter, 1, MPI_LONG_LONG, 1 - rank, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(&letter, 1, MPI_LONG_LONG, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return 1e6 * (MPI_Wtime() - start) / (2 * repeats);
}

int main(int argc, char** argv) {
    int rank = 0, most_sent = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 3) return 2;
    const bool gathers = strcmp(argv[1], "gathered") == 0;
    const int decide = gathers ? TOPOLOOM_DECIDE_GATHERED : TOPOLOOM_DECIDE_BY_MESSAGES,
              repeats = atoi(argv[2]);
    const double found = strcmp(argv[1], "message") == 0
                             ? time_message(repeats, rank)
                             : measure_median(MPI_COMM_WORLD, decide, repeats, rank, &most_sent);
    if (rank == 0) printf("%.3f %d\n", found, most_sent);
    MPI_Finalize();
    return 0;
}
