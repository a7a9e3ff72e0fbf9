// SPDX-License-Identifier: BSD-3-Clause
// Sends 10 bytes around a ring; then rank 1 ends as requested, while the other ranks wait.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int overflow_stack(volatile char* above) {
    volatile char here[4096];
    here[0] = above[0];
    return overflow_stack(here) + here[0];
}

static void finalize_at_exit(void) { MPI_Finalize(); }

int main(int argc, char** argv) {
    int me, size;
    char out[10] = {0}, in[10];
    const char* how = argv[1];
    if (strcmp(how, "before") == 0) return 3;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Sendrecv(out, 10, MPI_BYTE, (me + 1) % size, 0, in, 10, MPI_BYTE, (me + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(how, "atexit") == 0) {
        atexit(finalize_at_exit);
        exit(0);
    }
    if (strcmp(how, "handler") == 0) {
        MPI_Errhandler handler;
        MPI_Comm half;
        MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
        if (handler != MPI_ERRORS_ARE_FATAL) MPI_Abort(MPI_COMM_WORLD, 9);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
        MPI_Errhandler_free(&handler);
        MPI_Comm_split(MPI_COMM_WORLD, me % 2, 0, &half);
        MPI_Comm_get_errhandler(half, &handler);
        if (handler != MPI_ERRORS_ARE_FATAL) MPI_Abort(MPI_COMM_WORLD, 9);
        MPI_Comm_free(&half);
        MPI_Finalize();
        return 0;
    }
    if (strcmp(how, "sleep") == 0) {
        sleep(600);
        MPI_Send(out, 10, MPI_BYTE, (me + 2) % size, 1, MPI_COMM_WORLD);
        fclose(fopen(argv[2], "w"));
    }
    if (me != 1) {
        for (;;) pause();
    }
    if (strcmp(how, "segv") == 0) *(volatile int*)8 = 1;
    if (strcmp(how, "stack") == 0) return overflow_stack(in);
    if (strcmp(how, "abort") == 0) abort();
    if (strcmp(how, "error") == 0) MPI_Send(out, 1, MPI_BYTE, size + 1, 0, MPI_COMM_WORLD);
    if (strcmp(how, "receive") == 0) MPI_Recv(out, -1, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(how, "_exit") == 0) _exit(4);
    if (strcmp(how, "quick") == 0) quick_exit(5);
    if (strcmp(how, "exit") == 0) exit(6);
    if (strcmp(how, "kill") == 0) raise(SIGKILL);
    if (strcmp(how, "mpi_abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
    return 8;
}
