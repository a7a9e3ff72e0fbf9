// SPDX-License-Identifier: BSD-3-Clause
// The last rank stops between the plan and the exchange. Usage: dying_rank said|returned|killed.
// said: the other ranks end with a one-line error.
// returned: the other ranks continue and still have each of their tasks exactly once.
// killed: the last rank dies, and no rank has a stall timeout.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <topoloom_balance.h>
#include <unistd.h>

enum { most = 40, words = 4096 };  // words per task: too long for eager messages

static int rank, ranks;

/// Returns whether the living ranks have each task exactly once.
static int has_each_task_once(const long long* tasks, long long held, int all, MPI_Comm living) {
    int *here = calloc((size_t)all, sizeof *here), *seen = calloc((size_t)all, sizeof *seen);
    for (long long i = 0; i < held; ++i) ++here[tasks[i * words]];
    MPI_Allreduce(here, seen, all, MPI_INT, MPI_SUM, living);
    int right = 1;
    for (int i = 0; i < all; ++i) right &= seen[i] == 1;
    free(here);
    free(seen);
    return right;
}

/// MPICH's launcher may lose unread output when a rank aborts: wait up to a second until it is
/// read.
static void wait_for_reader(void) {
    int unread = 0;
    for (int i = 0; i < 1000 && ioctl(STDOUT_FILENO, FIONREAD, &unread) == 0 && unread > 0; ++i) usleep(1000);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int dies = rank == ranks - 1, is_returned = strcmp(argv[argc - 1], "returned") == 0;
    const int is_killed = strcmp(argv[argc - 1], "killed") == 0;
    if (is_returned) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm living;
    MPI_Comm_split(MPI_COMM_WORLD, dies, rank, &living);

    // Rank 0 sends tasks to all other ranks, including the last.
    const int count = rank == 0 ? 10 * (ranks - 1) : 10 - 10 * dies;
    const int first = rank == 0 ? 0 : 10 * (ranks + rank - 2), all = 10 * (2 * ranks - 3);
    long long* tasks = calloc((size_t)most * words, sizeof *tasks);
    for (int i = 0; i < count; ++i) tasks[(size_t)i * words] = first + i;
    const topoloom_balance_options options = {.stall_timeout = is_killed ? 0 : 2};
    topoloom_plan* plan = NULL;
    topoloom_balance(MPI_COMM_WORLD, count, &options, &plan);
    if (dies && is_killed) raise(SIGKILL);
    if (dies) raise(SIGSTOP);
    MPI_Barrier(living);
    long long held = -1;
    const int status = topoloom_exchange(plan, tasks, words * sizeof *tasks, most, &held);
    char last[16];
    snprintf(last, sizeof last, "rank %d", ranks - 1);
    const int is_named = rank != 0 || strstr(topoloom_balance_error(status), last) != NULL;
    const int right = has_each_task_once(tasks, held, all, living) && is_named;
    int failed = status != MPI_SUCCESS, any = 0;
    MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, living);
    if (rank == 0) printf("%s, tasks are %s\n", any ? "an error" : "no error", right ? "once" : "NOT once");
    fflush(stdout);
    if (rank == 0) wait_for_reader();
    MPI_Barrier(living);
    MPI_Abort(MPI_COMM_WORLD, right ? 3 : 4);
}
