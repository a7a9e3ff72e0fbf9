// SPDX-License-Identifier: BSD-3-Clause
// Times steps that begin with random loads of 24 +- 4 tasks: `random_steps METHOD BYTES STEPS [MACHINE]`
// prints microseconds of balancing per step (decision and exchange), from the last rank's start to the last
// rank's end.
// METHOD is a balancer, or sends one message per task along a list of ranks: `swap` sorts the list by load,
// `walk` (as in QWalk) does not. `unasked:METHOD` exchanges without capacity checks.
// Loads are drawn by slot, so that they do not depend on the order of ranks.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <topoloom_balance.h>

struct place {
    long long excess;
    int rank;
};

static int compare_descending(const void* a, const void* b) {
    const struct place *left = a, *right = b;
    if (left->excess != right->excess) return left->excess < right->excess ? 1 : -1;
    return left->rank - right->rank;
}

static int compare_ranks(const void* a, const void* b) {
    return ((const struct place*)a)->rank - ((const struct place*)b)->rank;
}

static void move_one_by_one(int is_sorted, char* tasks, long long held, int bytes, int rank, int ranks) {
    long long* loads = malloc((size_t)ranks * sizeof *loads);
    struct place* list = malloc((size_t)ranks * sizeof *list);
    MPI_Allgather(&held, 1, MPI_LONG_LONG, loads, 1, MPI_LONG_LONG, MPI_COMM_WORLD);
    long long sum = 0;
    for (int i = 0; i < ranks; ++i) sum += loads[i];
    for (int i = 0; i < ranks; ++i) list[i] = (struct place){loads[i], i};
    qsort(list, (size_t)ranks, sizeof *list, compare_descending);
    for (int i = 0; i < ranks; ++i) list[i].excess -= sum / ranks + (i < sum % ranks ? 1 : 0);
    if (!is_sorted) qsort(list, (size_t)ranks, sizeof *list, compare_ranks);
    for (int from = 0, at = ranks - 1; from < ranks && at >= 0;) {
        const int to = is_sorted ? at : ranks - 1 - at;
        if (list[from].excess <= 0) {
            ++from;
        } else if (list[to].excess >= 0) {
            --at;
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

/// Exchanges as in the source: without capacity checks; received tasks are stored after those already present.
static void exchange_tasks_without_checks(char* tasks, long long held, int bytes,
                                          const topoloom_balance_options* options) {
    topoloom_plan* plan = NULL;
    topoloom_balance(MPI_COMM_WORLD, held, options, &plan);
    MPI_Request open[64];
    int count = 0;
    char *leaving = tasks + plan->kept * bytes, *coming = tasks + plan->before * bytes;
    for (int i = 0; i < plan->from_count; ++i) {
        MPI_Irecv(coming, (int)plan->tasks_from[i] * bytes, MPI_BYTE, plan->from[i], 0, MPI_COMM_WORLD,
                  &open[count++]);
        coming += plan->tasks_from[i] * bytes;
    }
    for (int i = 0; i < plan->to_count; ++i) {
        MPI_Isend(leaving, (int)plan->tasks_to[i] * bytes, MPI_BYTE, plan->to[i], 0, MPI_COMM_WORLD,
                  &open[count++]);
        leaving += plan->tasks_to[i] * bytes;
    }
    MPI_Waitall(count, open, MPI_STATUSES_IGNORE);
    topoloom_plan_free(&plan);
}

static void exchange_tasks(char* tasks, long long held, int bytes, const topoloom_balance_options* options) {
    topoloom_plan* plan = NULL;
    topoloom_balance(MPI_COMM_WORLD, held, options, &plan);
    held = plan->before + plan->after - plan->kept;
    topoloom_exchange(plan, tasks, bytes, held, &held);
    topoloom_plan_free(&plan);
}

/// Returns this rank's slot: node names contain the node's number, and local ranks use its slots in order.
static int find_slot(void) {
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0, node = 0, local = 0, locals = 1;
    MPI_Comm comm;
    MPI_Get_processor_name(name, &length);
    sscanf(name, "node-%d", &node);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    MPI_Comm_rank(comm, &local);
    MPI_Comm_size(comm, &locals);
    MPI_Comm_free(&comm);
    return node * locals + local;
}

int main(int argc, char** argv) {
    int rank = 0, ranks = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 4) return 2;
    const int bytes = atoi(argv[2]), steps = atoi(argv[3]);
    const int is_unasked = strncmp(argv[1], "unasked:", 8) == 0;
    const char* method = is_unasked ? argv[1] + 8 : argv[1];
    const int slot = find_slot(), is_sorted = strcmp(argv[1], "swap") == 0;
    const topoloom_balance_options options = {
        .method = method, .machine = argc > 4 ? argv[4] : NULL, .slot = slot, .reserve_capacity = 1};
    char* tasks = calloc(64, (size_t)bytes);
    unsigned seed = (unsigned)slot + 1;
    double sum = 0;
    for (int step = -1; step < steps; ++step) {  // the first step creates communicators
        seed = seed * 1664525U + 1013904223U;
        const long long held = 20 + (seed >> 8) % 9;
        MPI_Barrier(MPI_COMM_WORLD);
        double span[2] = {MPI_Wtime(), 0}, all[2] = {0, 0};  // simulated clocks are synchronized
        if (is_sorted || strcmp(argv[1], "walk") == 0)
            move_one_by_one(is_sorted, tasks, held, bytes, rank, ranks);
        else if (is_unasked)
            exchange_tasks_without_checks(tasks, held, bytes, &options);
        else
            exchange_tasks(tasks, held, bytes, &options);
        span[1] = MPI_Wtime();
        MPI_Reduce(span, all, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (step >= 0) sum += all[1] - all[0];
    }
    if (rank == 0) printf("%.3f\n", 1e6 * sum / steps);
    free(tasks);
    MPI_Finalize();
    return 0;
}
