// SPDX-License-Identifier: BSD-3-Clause
// Threads use communicators of one process, then of all processes; some get the handle of a freed communicator. Each
// rank prints how many handles were reused, and whether all sums were right.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { threads = 2, rounds = 6 };

struct work {
    pthread_t thread;
    MPI_Comm all;
    int reused, right;
};

static void* use_communicators(void* given) {
    struct work* work = given;
    int ranks = 0;
    MPI_Comm_size(work->all, &ranks);
    for (int i = 0; i < rounds; ++i) {
        MPI_Comm alone, all;
        int sum = 0, one = 1;
        MPI_Comm_dup(MPI_COMM_SELF, &alone);
        for (int k = 0; k < 3; ++k) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, alone);
        const MPI_Comm freed = alone;
        work->right += sum == 1;
        MPI_Comm_free(&alone);
        MPI_Comm_dup(work->all, &all);
        work->reused += all == freed;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
        work->right += sum == ranks;
        MPI_Comm_free(&all);
    }
    return NULL;
}

int main(int argc, char** argv) {
    struct work works[threads];
    int level = 0, reused = 0, right = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level != MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int t = 0; t < threads; ++t) {
        works[t] = (struct work){.reused = 0};
        PMPI_Comm_dup(MPI_COMM_WORLD, &works[t].all);
        pthread_create(&works[t].thread, NULL, use_communicators, &works[t]);
    }
    for (int t = 0; t < threads; ++t) {
        pthread_join(works[t].thread, NULL);
        reused += works[t].reused;
        right += works[t].right;
        MPI_Comm_free(&works[t].all);
    }
    printf("%d reused, %s\n", reused, right == 2 * threads * rounds ? "right" : "wrong");
    MPI_Finalize();
    return 0;
}
