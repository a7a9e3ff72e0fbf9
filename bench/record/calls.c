// SPDX-License-Identifier: BSD-3-Clause
// Times calls from one rank to itself, so that little more than the call's own cost is measured.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static char out[8], in[8];

/// CPU time of this thread, so that other processes on the machine do not count.
static double read_thread_cpu_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void send_to_self(MPI_Comm comm) {
    MPI_Request request;
    MPI_Irecv(in, 8, MPI_BYTE, 0, 0, comm, &request);
    MPI_Send(out, 8, MPI_BYTE, 0, 0, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static double time_sends(MPI_Comm first, MPI_Comm second, int calls) {
    const double begin = read_thread_cpu_seconds();
    for (int i = 0; i < calls; i += 2) {
        send_to_self(first);
        send_to_self(second);
    }
    return 1e9 * (read_thread_cpu_seconds() - begin) / calls;
}

static double time_starts(int calls) {
    MPI_Request requests[2];
    MPI_Send_init(out, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(in, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[1]);
    const double begin = read_thread_cpu_seconds();
    for (int i = 0; i < calls; ++i) {
        MPI_Start(&requests[1]);
        MPI_Start(&requests[0]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    const double seconds = read_thread_cpu_seconds() - begin;
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    return 1e9 * seconds / calls / 2;  // two starts per round
}

static double time_puts(int calls) {
    MPI_Win win;
    char* memory;
    MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    const double begin = read_thread_cpu_seconds();
    for (int i = 0; i < calls; ++i) MPI_Put(out, 8, MPI_BYTE, 0, 0, 8, MPI_BYTE, win);
    const double seconds = read_thread_cpu_seconds() - begin;
    MPI_Win_unlock(0, win);
    MPI_Win_free(&win);
    return 1e9 * seconds / calls;
}

int main(int argc, char** argv) {
    const int calls = argc > 1 ? atoi(argv[1]) : 1000000;
    int level;
    MPI_Init_thread(&argc, &argv, argc > 2 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm twin;
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    time_sends(MPI_COMM_WORLD, twin, calls / 10);
    printf("send %.1f\n", time_sends(MPI_COMM_WORLD, MPI_COMM_WORLD, calls));
    printf("send-on-two-communicators %.1f\n", time_sends(MPI_COMM_WORLD, twin, calls));
    printf("start %.1f\n", time_starts(calls));
    printf("put %.1f\n", time_puts(calls));
    MPI_Comm_free(&twin);
    MPI_Finalize();
    return 0;
}
