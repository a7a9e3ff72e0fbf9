// SPDX-License-Identifier: BSD-3-Clause
// Balances six times with a failure on rank 2 only: `failing_gather
// memory|window|receive|wait|nothing`. `memory` and `window` fail in the first call; `receive` and
// `wait` in the third. Prints each rank's result per call.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <topoloom_balance.h>

enum { calls = 6, failing_rank = 2, failing_call = 3, most_ranks = 16 };

static const char* what = "nothing";
static int rank, call, messages;

/// Returns whether the named failure occurs in this call on this rank.
static int has_failure(const char* name, int in_call) {
    return rank == failing_rank && call == in_call && strcmp(what, name) == 0;
}

void* __libc_malloc(size_t size);

void* malloc(size_t size) {
    Dl_info caller;
    const int is_ours = has_failure("memory", 1) && dladdr(__builtin_return_address(0), &caller) != 0 &&
                        strstr(caller.dli_fname, "libtopoloom-balance") != NULL;
    return is_ours ? NULL : __libc_malloc(size);
}

int PMPI_Win_allocate_shared(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base,
                             MPI_Win* window) {
    int (*next)(MPI_Aint, int, MPI_Info, MPI_Comm, void*, MPI_Win*) =
        (int (*)(MPI_Aint, int, MPI_Info, MPI_Comm, void*, MPI_Win*))dlsym(RTLD_NEXT, __func__);
    const int status = next(size, unit, info, comm, base, window);
    return has_failure("window", 1) ? MPI_ERR_NO_MEM : status;
}

int PMPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
               MPI_Request* request) {
    int (*next)(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) =
        (int (*)(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*))dlsym(RTLD_NEXT, __func__);
    ++messages;
    return has_failure("receive", failing_call) ? MPI_ERR_OTHER
                                                : next(data, count, type, from, tag, comm, request);
}

int PMPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
    int (*next)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) =
        (int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*))dlsym(RTLD_NEXT, __func__);
    ++messages;
    return next(data, count, type, to, tag, comm, request);
}

int PMPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
    int (*next)(int, MPI_Request*, MPI_Status*) =
        (int (*)(int, MPI_Request*, MPI_Status*))dlsym(RTLD_NEXT, __func__);
    const int status = next(count, requests, statuses);
    return has_failure("wait", failing_call) ? MPI_ERR_OTHER : status;
}

/// Loads alternate from call to call, so that outdated loads would change the plan.
static long long compute_load(int of) { return call % 2 == of % 2 ? 10 : 0; }

int main(int argc, char** argv) {
    int ranks = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (argc > 1) what = argv[1];
    const topoloom_balance_options options = {.decide = TOPOLOOM_DECIDE_GATHERED};
    for (call = 1; call <= calls; ++call) {
        topoloom_plan* plan = NULL;
        messages = 0;
        const int status = topoloom_balance(MPI_COMM_WORLD, compute_load(rank), &options, &plan);
        char said = 'e', all[most_ranks + 1] = "";
        int used = messages, sum = 0;
        if (status == MPI_SUCCESS) {
            said = plan->before == compute_load(rank) && plan->after == 5 ? '+' : 'x';
            topoloom_plan_free(&plan);
        }
        MPI_Gather(&said, 1, MPI_CHAR, all, 1, MPI_CHAR, 0, MPI_COMM_WORLD);
        MPI_Reduce(&used, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 0) printf("%s %s\n", all, sum > 0 ? "by node" : "by MPI");
        if (rank != failing_rank && status != MPI_SUCCESS) {
            char line[300];
            snprintf(line, sizeof line, "%s\n", topoloom_balance_error(status));
            fputs(line, stderr);
        }
    }
    MPI_Finalize();
    return 0;
}
