// SPDX-License-Identifier: BSD-3-Clause
// Makes calls that are the same on all ranks, and asks now and then whether all would take the same schedules, while the
// clock of each rank says what it likes: the library's PMPI_Wtime is ours.
// Usage: learning CALLS SEED
#include <math.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <topoloom_collective.h>

#include "chance.h"

enum { most_bytes = 4096, most_ranks = 64, asked_every = 50 };

static unsigned noise = 1;
static long asked_clock = 0;

static unsigned differs(unsigned below) {  // on each rank
    noise = noise * 1664525 + 1013904223;
    return (noise >> 8) % below;
}

double PMPI_Wtime(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    ++asked_clock;
    const double seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    switch (differs(40)) {
        case 0:
            return NAN;
        case 1:
            return 0;
        case 2:
            return -seconds;
        case 3:
            return seconds + differs(100000);
        case 4:
            return INFINITY;
        default:
            return seconds + 1e-6 * differs(20);
    }
}

static const char* const operations[] = {"alltoall", "allgather", "allreduce", "bcast", "barrier", "scan"};
static char in[most_ranks * most_bytes], out[most_ranks * most_bytes];

static void block(int operation, int bytes, int root) {
    const MPI_Comm world = MPI_COMM_WORLD;
    if (operation == 0) topoloom_alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, world);
    if (operation == 1) topoloom_allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, world);
    if (operation == 2) topoloom_allreduce(in, out, bytes, MPI_CHAR, MPI_BOR, world);
    if (operation == 3) topoloom_bcast(in, bytes, MPI_BYTE, root, world);
    if (operation == 4) topoloom_barrier(world);
    if (operation == 5) topoloom_scan(in, out, bytes, MPI_CHAR, MPI_BOR, world);
}

/// Of the schedules of all calls that are made.
static long hash_of_schedules(void) {
    unsigned long hash = 0xcbf29ce484222325;
    for (int operation = 0; operation < 6; ++operation) {
        for (int bytes = 1; bytes <= most_bytes; bytes *= 2) {
            const char* schedule = "";
            topoloom_schedule_of(MPI_COMM_WORLD, operations[operation], bytes, &schedule);
            for (; *schedule != '\0'; ++schedule) hash = (hash ^ (unsigned char)*schedule) * 0x100000001b3;
        }
    }
    return (long)(hash >> 1);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const long calls = atol(argv[1]);
    chance = strtoul(argv[2], NULL, 10);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    noise = (unsigned)rank + 1;
    long disagreements = 0, changes = 0, last = 0;
    static char late[most_bytes];
    for (long call = 1; call <= calls; ++call) {
        const int operation = (int)draw(6), bytes = 1 << draw(13), root = (int)draw((uint64_t)ranks);
        topoloom_request request = TOPOLOOM_REQUEST_NULL;
        if (draw(8) == 0) topoloom_ibcast(late, bytes, MPI_BYTE, root, MPI_COMM_WORLD, &request);
        if (differs(50) == 0)
            for (int i = 0; i < 20; ++i) sched_yield();
        block(operation, bytes, root);
        topoloom_wait(&request, MPI_STATUS_IGNORE);
        if (draw(100) == 0) topoloom_collective_fence(MPI_COMM_WORLD);
        if (call % asked_every != 0) continue;
        const long hash = hash_of_schedules();
        long least, most;
        MPI_Allreduce(&hash, &least, 1, MPI_LONG, MPI_MIN, MPI_COMM_WORLD);
        MPI_Allreduce(&hash, &most, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
        disagreements += least != most;
        changes += hash != last;
        last = hash;
    }
    if (rank == 0)
        printf("%ld calls, %ld disagreements, %s changes, %s clock\n", calls, disagreements,
               changes > 1 ? "some" : "no", asked_clock > 0 ? "our" : "another");
    MPI_Finalize();
    return 0;
}
