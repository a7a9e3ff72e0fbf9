// SPDX-License-Identifier: BSD-3-Clause
// Balances random loads, first those of one rank, then repeatedly those of all ranks: `exchange_cases DRAWS
// [MACHINE]`. Every task must arrive exactly once, at the planned rank and in order.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <topoloom_balance.h>

enum { most = 60, words = 3, way_count = 5 };

struct task {
    int origin, index, filling[words];
};

static MPI_Comm base;  // communicator of the ranks that balance
static int rank, ranks;
static int wrong;

static void expect(int holds, const char* what) {
    if (!holds && wrong++ < 5) fprintf(stderr, "rank %d: %s\n", rank, what);
}

static struct task make_task(int origin, int index) {
    struct task task = {.origin = origin, .index = index};
    for (int i = 0; i < words; ++i) task.filling[i] = 1000 * origin + 10 * index + i;
    return task;
}

/// Bytes of a task in exchanges of different sizes.
static long long compute_task_bytes(int origin, int index) { return (origin * 7 + index * 3) % 11; }

static int draw(unsigned* seed, int below) {
    *seed = *seed * 1664525U + 1013904223U;
    return (int)((*seed >> 8) % (unsigned)below);
}

/// Lists the expected tasks after the exchange: kept tasks first, then received tasks by source
/// rank.
static int list_expected_tasks(const int* plans, struct task* tasks, const int* before) {
    // plans[i * ranks + j]: tasks from i to j.
    int count = 0, kept = before[rank];
    for (int j = 0; j < ranks; ++j) kept -= plans[rank * ranks + j];
    for (int i = 0; i < kept; ++i) tasks[count++] = make_task(rank, i);
    for (int source = 0; source < ranks; ++source) {
        int first = before[source];
        for (int j = ranks - 1; j >= rank; --j) first -= plans[source * ranks + j];
        for (int i = 0; i < plans[source * ranks + rank]; ++i) tasks[count++] = make_task(source, first + i);
    }
    return count;
}

static void gather_plans(const topoloom_plan* plan, int* plans) {
    int* own = calloc((size_t)ranks, sizeof *own);
    for (int i = 0; i < plan->to_count; ++i) own[plan->to[i]] = (int)plan->tasks_to[i];
    MPI_Allgather(own, ranks, MPI_INT, plans, ranks, MPI_INT, base);
    free(own);
    for (int i = 0; i < plan->from_count; ++i)
        expect(plans[plan->from[i] * ranks + rank] == plan->tasks_from[i], "a giver and a receiver differ");
}

/// Moves tasks of equal size; reserve_capacity makes room for all received tasks in addition to
/// all present tasks.
static void move_equal(topoloom_plan* plan, const int* plans, const int* before, int overlapped,
                       int reserve_capacity) {
    const long long fitting = plan->after > plan->before ? plan->after : plan->before;
    const long long capacity = reserve_capacity ? plan->before + plan->after - plan->kept : fitting;
    struct task* tasks = malloc((size_t)(capacity + 1) * sizeof *tasks);
    struct task* right = malloc((size_t)(plan->after + 1) * sizeof *right);
    for (int i = 0; i < before[rank]; ++i) tasks[i] = make_task(rank, i);
    long long held = -1;
    if (overlapped) {
        topoloom_exchange_request request = NULL;
        topoloom_exchange_start(plan, tasks, sizeof *tasks, capacity, &request);
        for (int done = 0, i = 0; !done && i < 1000000; ++i) topoloom_exchange_test(request, &done);
        topoloom_exchange_finish(&request, &held);
        expect(request == NULL, "the exchange is still there");
    } else {
        topoloom_exchange(plan, tasks, sizeof *tasks, capacity, &held);
    }
    const int count = list_expected_tasks(plans, right, before);
    expect(held == plan->after && count == held, "the number of tasks is wrong");
    expect(memcmp(tasks, right, (size_t)count * sizeof *tasks) == 0, "tasks are not what they should be");
    free(tasks);
    free(right);
}

static void move_sized(topoloom_plan* plan, const int* plans, const int* before) {
    const long long capacity = plan->after > plan->before ? plan->after : plan->before;
    struct task* right = malloc((size_t)(plan->after + 1) * sizeof *right);
    long long* sizes = malloc((size_t)(capacity + 1) * sizeof *sizes);
    char* bytes = malloc((size_t)(capacity + 1) * 16);
    long long at = 0, held = -1;
    for (int i = 0; i < before[rank]; ++i) {
        sizes[i] = compute_task_bytes(rank, i);
        memset(bytes + at, rank + i, (size_t)sizes[i]);
        at += sizes[i];
    }
    topoloom_exchange_sized(plan, bytes, (capacity + 1) * 16, sizes, capacity, &held);
    const int count = list_expected_tasks(plans, right, before);
    at = 0;
    for (int i = 0; i < count; ++i) {
        expect(sizes[i] == compute_task_bytes(right[i].origin, right[i].index), "a size is wrong");
        for (int b = 0; b < sizes[i]; ++b)
            expect(bytes[at++] == (char)(right[i].origin + right[i].index), "a byte is wrong");
    }
    expect(held == count, "the number of sized tasks is wrong");
    free(right);
    free(sizes);
    free(bytes);
}

static void draw_and_move(unsigned* seed, MPI_Comm comm, const topoloom_balance_options* options,
                          int* plans) {
    int* before = malloc((size_t)ranks * sizeof *before);
    const int below = 1 + draw(seed, most);
    for (int i = 0; i < ranks; ++i) before[i] = draw(seed, below);
    topoloom_plan* plan = NULL;
    topoloom_balance(comm, before[rank], options, &plan);
    gather_plans(plan, plans);
    move_equal(plan, plans, before, 0, options->reserve_capacity);
    move_equal(plan, plans, before, 1, options->reserve_capacity);
    move_sized(plan, plans, before);
    if (options->method == NULL) {  // the distributed algorithm finds the same plan
        topoloom_balance_options other = *options;
        other.decide = TOPOLOOM_DECIDE_GATHERED;
        int* others = malloc((size_t)(ranks * ranks) * sizeof *others);
        topoloom_plan* same = NULL;
        topoloom_balance(comm, before[rank], &other, &same);
        gather_plans(same, others);
        expect(memcmp(plans, others, (size_t)(ranks * ranks) * sizeof *others) == 0, "both ways differ");
        topoloom_plan_free(&same);
        free(others);
    }
    topoloom_plan_free(&plan);
    free(before);
}

static void run_all(MPI_Comm among, int draws, const char* machine) {
    base = among;
    MPI_Comm_rank(base, &rank);
    MPI_Comm_size(base, &ranks);
    const topoloom_balance_options ways[way_count] = {
        {.decide = TOPOLOOM_DECIDE_BY_MESSAGES},
        {.method = "alias"},
        {.method = "qwalk"},
        {.method = "qwalk", .reserve_capacity = 1},
        {.method = "transport", .machine = machine, .slot = ranks - 1 - rank}};
    int* plans = malloc((size_t)(ranks * ranks) * sizeof *plans);
    unsigned seed = 1;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(base, &comm);
    for (int i = 0; i < draws; ++i)
        for (int w = 0; w < way_count; ++w) draw_and_move(&seed, comm, &ways[w], plans);
    // A plan outlives its communicator.
    topoloom_plan* plan = NULL;
    int* before = malloc((size_t)ranks * sizeof *before);
    for (int i = 0; i < ranks; ++i) before[i] = 3 * i;
    topoloom_balance(comm, before[rank], NULL, &plan);
    MPI_Comm_free(&comm);
    gather_plans(plan, plans);
    move_equal(plan, plans, before, 1, 0);
    topoloom_plan_free(&plan);
    free(before);
    free(plans);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int draws = atoi(argv[1]);
    const char* machine = argc > 2 ? argv[2] : "ring:64";
    run_all(MPI_COMM_SELF, 1, machine);
    run_all(MPI_COMM_WORLD, draws, machine);
    int all = 0;
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && all == 0)
        printf("%d exchanges: every task is once where it should be\n", 3 * way_count * (1 + draws) + 2);
    MPI_Finalize();
    return all != 0;
}
