// SPDX-License-Identifier: BSD-3-Clause
// Times steps that begin with drawn loads, 24 tasks and up to 4 more or fewer: `drawn_steps METHOD BYTES STEPS [MACHINE]` prints
// microseconds of balancing per step (decision and exchange), from the last rank's start to the last rank's end. METHOD is a
// balancer, or `swap`: a message for each task along a list of ranks that is sorted by load.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <topoloom_balance.h>

struct place {
    long long excess;
    int rank;
};

static int descending(const void* a, const void* b) {
    const struct place *left = a, *right = b;
    if (left->excess != right->excess) return left->excess < right->excess ? 1 : -1;
    return left->rank - right->rank;
}

static void swap(char* tasks, long long held, int bytes, int rank, int ranks) {
    long long* loads = malloc((size_t)ranks * sizeof *loads);
    struct place* list = malloc((size_t)ranks * sizeof *list);
    MPI_Allgather(&held, 1, MPI_LONG_LONG, loads, 1, MPI_LONG_LONG, MPI_COMM_WORLD);
    long long sum = 0;
    for (int i = 0; i < ranks; ++i) sum += loads[i];
    for (int i = 0; i < ranks; ++i) list[i] = (struct place){loads[i], i};
    qsort(list, (size_t)ranks, sizeof *list, descending);
    for (int i = 0; i < ranks; ++i) list[i].excess -= sum / ranks + (i < sum % ranks ? 1 : 0);
    for (int from = 0, to = ranks - 1; from < to;) {
        if (list[from].excess <= 0) {
            ++from;
        } else if (list[to].excess >= 0) {
            --to;
        } else {
            --list[from].excess;
            ++list[to].excess;
            if (list[from].rank == rank)
                MPI_Send(tasks + --held * bytes, bytes, MPI_BYTE, list[to].rank, 0, MPI_COMM_WORLD);
            if (list[to].rank == rank)
                MPI_Recv(tasks + held++ * bytes, bytes, MPI_BYTE, list[from].rank, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        }
    }
    free(list);
    free(loads);
}

static void hand_over(char* tasks, long long held, int bytes, const topoloom_balance_options* options) {
    topoloom_plan* plan = NULL;
    topoloom_balance(MPI_COMM_WORLD, held, options, &plan);
    held = plan->before > plan->after ? plan->before : plan->after;
    topoloom_exchange(plan, tasks, bytes, held, &held);
    topoloom_plan_free(&plan);
}

int main(int argc, char** argv) {
    int rank = 0, ranks = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 4) return 2;
    const int bytes = atoi(argv[2]), steps = atoi(argv[3]);
    const topoloom_balance_options options = {
        .method = argv[1], .machine = argc > 4 ? argv[4] : NULL, .slot = rank};
    char* tasks = calloc(64, (size_t)bytes);
    unsigned seed = (unsigned)rank + 1;
    double sum = 0;
    for (int step = -1; step < steps; ++step) {  // the first makes communicators
        seed = seed * 1664525U + 1013904223U;
        const long long held = 20 + (seed >> 8) % 9;
        MPI_Barrier(MPI_COMM_WORLD);
        double span[2] = {MPI_Wtime(), 0}, all[2] = {0, 0};  // simulated clocks are one
        if (strcmp(argv[1], "swap") == 0)
            swap(tasks, held, bytes, rank, ranks);
        else
            hand_over(tasks, held, bytes, &options);
        span[1] = MPI_Wtime();
        MPI_Reduce(span, all, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (step >= 0) sum += all[1] - all[0];
    }
    if (rank == 0) printf("%.3f\n", 1e6 * sum / steps);
    free(tasks);
    MPI_Finalize();
    return 0;
}
