// SPDX-License-Identifier: BSD-3-Clause
// Times sparse exchanges by every algorithm, and by our choice, in one job; writes JSON Lines.
//
// Usage: sparse PATTERNS DEGREES BYTES, lists separated by commas. In each pattern, every rank
// sends one message to each of DEGREE random ranks. All ranks start at the same time of MPI's
// clock, which must be synchronized; an exchange is timed until the last rank completes it.
// Or: sparse --calls CALLS: this number of exchanges on one communicator.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common_start.h"
#include "topoloom_exchange.h"

static int rank, ranks;

// ---- patterns ----------------------------------------------------------------------------------------------------

static uint64_t mix_bits(uint64_t z) {  // splitmix64
    z += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

/// Draws distinct other ranks, at most all of them.
static int draw_destinations(int pattern, int degree, int* destinations) {
    char* taken = calloc((size_t)ranks, 1);
    uint64_t chance = mix_bits((uint64_t)pattern << 32 | (uint32_t)rank);
    int count = 0;
    for (taken[rank] = 1; count < degree && count < ranks - 1;) {
        chance = mix_bits(chance);
        const int other = (int)(chance % (uint64_t)ranks);
        if (taken[other]) continue;
        taken[other] = 1;
        destinations[count++] = other;
    }
    free(taken);
    return count;
}

// ---- time --------------------------------------------------------------------------------------------------------

struct lists {
    int *destinations, *counts, *displs;
    char* buffer;  // one send buffer for all messages
};

static double measure_seconds(int pattern, int degree, int bytes, const struct lists* lists, MPI_Comm comm) {
    const int count = draw_destinations(pattern, degree, lists->destinations);
    for (int i = 0; i < count; ++i) lists->counts[i] = bytes;
    int received, *sources, *counts;
    char* data;
    const double start = wait_for_common_start();
    topoloom_sparse_exchange(count, lists->destinations, lists->counts, lists->buffer, lists->displs,
                             MPI_BYTE, &received, &sources, &counts, &data, MPI_BYTE, comm);
    const double end = MPI_Wtime();
    topoloom_sparse_free(&sources, &counts, &data);
    return find_latest(end) - start;
}

static struct lists make_lists(int degree, int bytes) {
    const size_t list = (size_t)degree * sizeof(int);
    return (struct lists){malloc(list), malloc(list), calloc((size_t)degree, sizeof(int)),
                          calloc((size_t)bytes, 1)};
}

static void free_lists(const struct lists* lists) {
    free(lists->destinations);
    free(lists->counts);
    free(lists->displs);
    free(lists->buffer);
}

// Algorithms; "" is our choice.
static const char* const algorithms[] = {"reduction", "nbx", "mesh", ""};
enum { algorithm_count = sizeof algorithms / sizeof *algorithms };

/// Returns a communicator whose exchanges use an algorithm; a first call sets it up.
static MPI_Comm make_communicator(const char* algorithm) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    char setting[64];
    snprintf(setting, sizeof setting, "exchange=%s", algorithm);
    setenv("TOPOLOOM_COLLECTIVES", algorithm[0] == '\0' ? "" : setting, 1);
    const struct lists lists = make_lists(0, 0);
    measure_seconds(0, 0, 0, &lists, comm);
    free_lists(&lists);
    return comm;
}

static void measure_cell(const MPI_Comm* comms, int patterns, int degree, int bytes) {
    const struct lists lists = make_lists(degree, bytes);
    for (int i = 0; i < algorithm_count; ++i) {
        if (rank == 0)
            printf("{\"ranks\": %d, \"degree\": %d, \"bytes\": %d, \"algorithm\": \"%s\", \"seconds\": [",
                   ranks, degree, bytes, algorithms[i]);
        for (int pattern = 0; pattern < patterns; ++pattern) {
            const double seconds = measure_seconds(pattern, degree, bytes, &lists, comms[i]);
            if (rank == 0) printf("%s%.9g", pattern > 0 ? ", " : "", seconds);
        }
        if (rank == 0) puts("]}");
        fflush(stdout);
    }
    free_lists(&lists);
}

static void measure_grid(int patterns, const char* degrees, const char* bytes) {
    MPI_Comm comms[algorithm_count];
    for (int i = 0; i < algorithm_count; ++i) comms[i] = make_communicator(algorithms[i]);
    for (const char* degree = degrees; degree != NULL; degree = strchr(degree, ',')) {
        degree += *degree == ',';
        for (const char* size = bytes; size != NULL; size = strchr(size, ',')) {
            size += *size == ',';
            measure_cell(comms, patterns, atoi(degree), atoi(size));
        }
    }
    for (int i = 0; i < algorithm_count; ++i) MPI_Comm_free(&comms[i]);
}

// ---- forever ----------------------------------------------------------------------------------------------------

static long read_resident_kilobytes(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/// Sends to the next rank and regularly to itself, and checks received data.
static void call_often(long calls) {
    const long warm = calls / 100;
    long before = 0;
    const double start = MPI_Wtime();
    for (long call = 0; call < calls; ++call) {
        if (call == warm) before = read_resident_kilobytes();
        const int destinations[] = {(rank + 1) % ranks, rank}, ones[] = {1, 1};
        const long sent[] = {call * ranks + rank, -call};
        int received, *sources, *counts;
        long* data;
        topoloom_sparse_exchange(call % 3 == 0 ? 2 : 1, destinations, ones, sent, NULL, MPI_LONG, &received,
                                 &sources, &counts, &data, MPI_LONG, MPI_COMM_WORLD);
        const int previous = (rank + ranks - 1) % ranks;
        int right = received == (call % 3 == 0 ? 2 : 1);
        for (int i = 0; i < received && right; ++i)
            right = data[i] == (sources[i] == previous && data[i] >= 0 && (previous != rank || i == 0)
                                    ? call * ranks + previous
                                    : -call);
        topoloom_sparse_free(&sources, &counts, &data);
        if (right) continue;
        fprintf(stderr, "sparse: call %ld is wrong on rank %d\n", call, rank);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank == 0)
        printf("{\"ranks\": %d, \"calls\": %ld, \"seconds\": %.3f, \"kilobytes_more\": %ld}\n", ranks, calls,
               MPI_Wtime() - start, read_resident_kilobytes() - before);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc == 3 && strcmp(argv[1], "--calls") == 0) {
        call_often(atol(argv[2]));
    } else if (argc == 4) {
        measure_grid(atoi(argv[1]), argv[2], argv[3]);
    } else {
        fputs("sparse: give patterns, degrees and bytes, or --calls and their number\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return MPI_Finalize();
}
