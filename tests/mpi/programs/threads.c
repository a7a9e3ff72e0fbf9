// SPDX-License-Identifier: BSD-3-Clause
// Four threads per rank send concurrently, each on its own communicator, 100 messages of one byte to the next
// rank.
#include <mpi.h>
#include <pthread.h>

enum { thread_count = 4, message_count = 100 };
static MPI_Comm comms[thread_count];
static int me, size;

static void* exchange_messages(void* comm) {
    char out = 0, in;
    for (int i = 0; i < message_count; ++i)
        MPI_Sendrecv(&out, 1, MPI_BYTE, (me + 1) % size, 0, &in, 1, MPI_BYTE, (me + size - 1) % size, 0,
                     *(MPI_Comm*)comm, MPI_STATUS_IGNORE);
    return 0;
}

int main(int argc, char** argv) {
    int level;
    pthread_t threads[thread_count];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level != MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < thread_count; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < thread_count; ++i) pthread_create(&threads[i], 0, exchange_messages, &comms[i]);
    for (int i = 0; i < thread_count; ++i) pthread_join(threads[i], 0);
    MPI_Finalize();
    return 0;
}
