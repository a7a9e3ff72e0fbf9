// SPDX-License-Identifier: BSD-3-Clause
// Mistakes of programs that balance tasks, on three ranks; rank 0 has six tasks. Usage: balance_mistakes
// WHAT; WHAT is a mistake, `returned` (all mistakes, returned as errors) or `said` (all mistakes,
// each reported as if fatal).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <topoloom_balance.h>

static int rank, goes_on;

/// Replaces MPI's function, which would end the program.
int PMPI_Comm_call_errhandler(MPI_Comm comm, int code) {
    int (*call)(MPI_Comm, int) = NULL;
    *(void**)&call = dlsym(RTLD_NEXT, "PMPI_Comm_call_errhandler");
    return goes_on ? MPI_SUCCESS : call(comm, code);
}

/// If nonzero, MPI_Alltoall fails.
static int alltoall_fails;
int PMPI_Alltoall(const void* sent, int count, MPI_Datatype type, void* received, int each, MPI_Datatype as,
                  MPI_Comm comm) {
    int (*call)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm) = NULL;
    *(void**)&call = dlsym(RTLD_NEXT, "PMPI_Alltoall");
    return alltoall_fails ? MPI_ERR_ARG : call(sent, count, type, received, each, as, comm);
}

static int check_explanation(int status) {
    if (status != MPI_SUCCESS && topoloom_balance_error(status)[0] == '\0')
        printf("rank %d: nothing says why there is an error\n", rank);
    return status;
}

static int try_balance(MPI_Comm comm, long long count, topoloom_balance_options options) {
    topoloom_plan* plan = NULL;
    const int status = topoloom_balance(comm, count, &options, &plan);
    if (status == MPI_SUCCESS) topoloom_plan_free(&plan);
    return check_explanation(status);
}

/// Rank 1 plans to send tasks that it does not have.
static int try_plan(int to, long long tasks) {
    topoloom_plan* plan = NULL;
    const int status = topoloom_plan_create(MPI_COMM_WORLD, 5, rank == 1, &to, &tasks, NULL, &plan);
    if (status == MPI_SUCCESS) topoloom_plan_free(&plan);
    return check_explanation(status);
}

/// Rank 1 passes other options than the other ranks.
static int try_different(topoloom_balance_options options) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    const int status = try_balance(comm, 5, rank == 1 ? options : (topoloom_balance_options){0});
    MPI_Comm_free(&comm);
    return status;
}

/// Returns whether every task is on some rank after a failed exchange.
static int has_all_tasks(const long long* tasks, long long held) {
    long long sum = 0, all = 0;
    for (long long i = 0; i < held; ++i) sum += tasks[i];
    MPI_Allreduce(&sum, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all == 1 + 2 + 3 + 4 + 5 + 6;
}

/// Rank 0 sends tasks to ranks 1 and 2; rank 0 or rank 2 makes the mistake. Returns that rank's
/// error.
static int try_exchange(const char* what) {
    long long tasks[8] = {1, 2, 3, 4, 5, 6}, sizes[8], held = -1;
    for (int i = 0; i < 8; ++i) sizes[i] = sizeof *tasks;
    topoloom_plan* plan = NULL;
    const topoloom_balance_options options = {.reserve_capacity = strncmp(what, "reserved", 8) == 0};
    int status = topoloom_balance(MPI_COMM_WORLD, rank == 0 ? 6 : 0, &options, &plan);
    if (status != MPI_SUCCESS) return status;
    const int is_last = rank == 2, is_giver = rank == 0;
    const int is_sized = strncmp(what, "sized", 5) == 0;
    long long capacity = 8;
    void* array = tasks;
    int bytes = sizeof *tasks;
    if (strcmp(what, "capacity") == 0 && is_last) capacity = 1;
    if (strcmp(what, "reserved-capacity") == 0 && is_last) capacity = 1;
    if (strcmp(what, "negative-capacity") == 0 && is_last) capacity = -1;
    if (strcmp(what, "null") == 0 && is_last) array = NULL;
    if (strcmp(what, "null-giver") == 0 && is_giver) array = NULL;
    if (strcmp(what, "reserved-giver") == 0 && is_giver) array = NULL;
    if (strcmp(what, "bytes") == 0 && is_last) bytes = 0;
    if (strcmp(what, "other-bytes") == 0 && is_last) bytes = 4;
    if (strcmp(what, "sized-negative") == 0 && is_giver) sizes[1] = -1;
    const long long byte_capacity =
        strcmp(what, "sized-capacity") == 0 && is_last ? 9 : (long long)sizeof tasks;
    status = is_sized ? topoloom_exchange_sized(plan, array, byte_capacity, sizes, capacity, &held)
                      : topoloom_exchange(plan, array, bytes, capacity, &held);
    if (!has_all_tasks(tasks, held)) printf("rank %d: tasks are lost or doubled (%s)\n", rank, what);
    topoloom_plan_free(&plan);
    int any = 0;
    const int failed = status != MPI_SUCCESS;
    MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return any ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/// The explanation of an earlier Topoloom error must not be reported for an MPI error of the same class.
static void try_errors_of_mpi(void) {
    topoloom_plan* plan = NULL;
    const int ours = try_balance(MPI_COMM_WORLD, 5, (topoloom_balance_options){.stall_timeout = -1});
    alltoall_fails = 1;
    const int own = topoloom_plan_create(MPI_COMM_WORLD, 5, 0, NULL, NULL, NULL, &plan);
    alltoall_fails = 0;
    if (ours != MPI_ERR_ARG || own != MPI_ERR_ARG || topoloom_balance_error(own)[0] != '\0')
        printf("rank %d: an older text explains an error of MPI's own\n", rank);
}

/// Options that differ only in the sign of zero are the same.
static void try_signs_of_zero(void) {
    if (try_different((topoloom_balance_options){.message_s = -0.0}) != MPI_SUCCESS)
        printf("rank %d: -0 is refused as different from 0\n", rank);
}

static const char* const mistakes[] = {
    "count",         "sum",        "method",  "option",         "machine",        "slot",
    "shared-slot",   "seconds",    "differ",  "rounds",         "talk",           "stall",
    "more",          "less",       "nobody",  "freed",          "capacity",       "negative-capacity",
    "null",          "null-giver", "bytes",   "sized-capacity", "sized-negative", "reserved-giver",
    "negative-slot", "decide",     "no-plan", "no-handle",      "freed-plan",     "ended",
    "other-bytes"};

static int make_mistake(const char* what) {
    const topoloom_balance_options usual = {0};
    if (strcmp(what, "count") == 0) return try_balance(MPI_COMM_WORLD, rank == 1 ? -3 : 5, usual);
    if (strcmp(what, "sum") == 0) return try_balance(MPI_COMM_WORLD, 1LL << 61, usual);
    if (strcmp(what, "method") == 0)
        return try_balance(MPI_COMM_WORLD, 5, (topoloom_balance_options){.method = "alais"});
    if (strcmp(what, "option") == 0)
        return try_balance(MPI_COMM_WORLD, 5, (topoloom_balance_options){.method = "transport"});
    if (strcmp(what, "machine") == 0)
        return try_balance(MPI_COMM_WORLD, 5, (topoloom_balance_options){.machine = "torso:8"});
    if (strcmp(what, "slot") == 0)
        return try_balance(MPI_COMM_WORLD, 5,
                           (topoloom_balance_options){.machine = "ring:8", .slot = 5 + rank * 2});
    if (strcmp(what, "negative-slot") == 0)
        return try_balance(MPI_COMM_WORLD, 5,
                           (topoloom_balance_options){.machine = "ring:8", .slot = rank - 1});
    if (strcmp(what, "decide") == 0)
        return try_balance(MPI_COMM_WORLD, 5, (topoloom_balance_options){.decide = 9});
    if (strcmp(what, "no-plan") == 0)
        return check_explanation(topoloom_balance(MPI_COMM_WORLD, 5, NULL, NULL));
    if (strcmp(what, "no-handle") == 0) return check_explanation(topoloom_plan_free(NULL));
    if (strcmp(what, "freed-plan") == 0) return check_explanation(topoloom_exchange(NULL, NULL, 8, 0, NULL));
    if (strcmp(what, "ended") == 0) {
        topoloom_exchange_request none = NULL;
        return check_explanation(topoloom_exchange_finish(&none, NULL));
    }
    if (strcmp(what, "shared-slot") == 0)
        return try_balance(MPI_COMM_WORLD, 5,
                           (topoloom_balance_options){.machine = "ring:8", .slot = rank == 0 ? 7 : 3});
    if (strcmp(what, "seconds") == 0)
        return try_balance(MPI_COMM_WORLD, 5, (topoloom_balance_options){.message_s = -1});
    if (strcmp(what, "differ") == 0) {
        const int status = try_different((topoloom_balance_options){.method = "alias"});
        return status != MPI_SUCCESS ? try_different((topoloom_balance_options){.stall_timeout = 1}) : status;
    }
    if (strcmp(what, "rounds") == 0)
        return try_balance(MPI_COMM_WORLD, 5,
                           (topoloom_balance_options){.method = "diffusion(neighbors=ring)"}) !=
                   MPI_SUCCESS ||
               try_balance(MPI_COMM_WORLD, 1LL << 61, usual);
    if (strcmp(what, "talk") == 0)
        return try_balance(
            MPI_COMM_WORLD, 5,
            (topoloom_balance_options){.method = "alias", .decide = TOPOLOOM_DECIDE_BY_MESSAGES});
    if (strcmp(what, "stall") == 0)
        return try_balance(MPI_COMM_WORLD, 5, (topoloom_balance_options){.stall_timeout = -1});
    if (strcmp(what, "more") == 0) return try_plan(0, 6);
    if (strcmp(what, "less") == 0) return try_plan(0, -1);
    if (strcmp(what, "nobody") == 0) return try_plan(3, 1);
    if (strcmp(what, "freed") == 0) return try_balance(MPI_COMM_NULL, 5, usual);
    return try_exchange(what);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    goes_on = strcmp(argv[argc - 1], "said") == 0;
    if (!goes_on && strcmp(argv[argc - 1], "returned") != 0) {
        make_mistake(argv[1]);
        MPI_Finalize();
        return 0;
    }
    if (!goes_on) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const int count = sizeof mistakes / sizeof *mistakes;
    int returned = 0;
    for (int i = 0; i < count; ++i) {
        const int status = make_mistake(mistakes[i]);
        returned += status != MPI_SUCCESS;
        if (status == MPI_SUCCESS && rank == 0) printf("no error: %s\n", mistakes[i]);
    }
    if (!goes_on) {
        try_errors_of_mpi();
        try_signs_of_zero();
    }
    if (rank == 0) printf("%d of %d mistakes were returned, and no task was lost\n", returned, count);
    MPI_Finalize();
    return 0;
}
