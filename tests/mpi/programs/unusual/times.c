// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 sleeps outside of MPI for SECONDS, while rank 1 waits in MPI_Recv and rank 2 waits in MPI_Recv in two threads.
// Rank 0 begins when the others have told it that they are about to wait.
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { announcement = 1, release = 2 };

static void* wait_for_rank_0(void* first_tag) {
    char byte = 0;
    const int tag = *(int*)first_tag;
    MPI_Send(&byte, 1, MPI_BYTE, 0, announcement, MPI_COMM_WORLD);
    MPI_Recv(&byte, 1, MPI_BYTE, 0, release + tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

static void let_others_wait(double seconds) {
    char byte = 0;
    const struct timespec pause = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    for (int i = 0; i < 3; ++i)
        MPI_Recv(&byte, 1, MPI_BYTE, MPI_ANY_SOURCE, announcement, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    nanosleep(&pause, NULL);
    MPI_Send(&byte, 1, MPI_BYTE, 1, release, MPI_COMM_WORLD);
    MPI_Send(&byte, 1, MPI_BYTE, 2, release, MPI_COMM_WORLD);
    MPI_Send(&byte, 1, MPI_BYTE, 2, release + 1, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
    int level, me, tags[2] = {0, 1};
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level != MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (me == 0) {
        let_others_wait(atof(argv[1]));
    } else {
        if (me == 2) pthread_create(&thread, NULL, wait_for_rank_0, &tags[1]);
        wait_for_rank_0(&tags[0]);
        if (me == 2) pthread_join(thread, NULL);
    }
    MPI_Finalize();
    return 0;
}
