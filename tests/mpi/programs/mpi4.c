// SPDX-License-Identifier: BSD-3-Clause
// Makes MPI 4 calls on 4 ranks: large counts, persistent collectives, partitioned sends, nonblocking
// sendrecv.
#include <mpi.h>

static char out[256], in[1024];

int main(int argc, char** argv) {
    int me;
    MPI_Request request, other;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    const int next = (me + 1) % 4, before = (me + 3) % 4;

    MPI_Pcontrol(1);
    MPI_Irecv(in, 10, MPI_BYTE, before, 0, MPI_COMM_WORLD, &request);
    MPI_Send_c(out, 10, MPI_BYTE, next, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isendrecv(out, 20, MPI_BYTE, next, 0, in, 20, MPI_BYTE, before, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);

    MPI_Pcontrol(2);
    MPI_Psend_init(out, 4, 3, MPI_BYTE, next, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Precv_init(in, 4, 3, MPI_BYTE, before, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &other);
    for (int round = 0; round < 2; ++round) {
        MPI_Start(&other);
        MPI_Start(&request);
        for (int part = 0; part < 4; ++part) MPI_Pready(part, request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Wait(&other, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    MPI_Request_free(&other);

    MPI_Pcontrol(3);
    MPI_Bcast_init(out, 30, MPI_BYTE, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int round = 0; round < 5; ++round) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    MPI_Count counts[4] = {1, 1, 1, 1};
    MPI_Aint places[4] = {0, 1, 2, 3};
    MPI_Alltoallv_c(out, counts, places, MPI_BYTE, in, counts, places, MPI_BYTE, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
