// SPDX-License-Identifier: BSD-3-Clause
// Reduce_scatter of blocks of different sizes: rank r receives block r of the combination of all ranks' vectors.
#include "entry_points.h"

static int get_own_count(const int recvcounts[], MPI_Comm comm) {
    int rank = 0;
    return recvcounts != NULL && PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS ? recvcounts[rank] : 0;
}

COLLECTIVE(reduce_scatter, sendbuf, recvbuf, recvcounts, datatype, op, comm) {
    return (struct arguments){
        .name = "reduce_scatter",
        .operation = TOPOLOOM_REDUCE_SCATTER,
        .comm = comm,
        .op = op,
        .is_vector = true,
        .input = {.buffer = sendbuf, .counts = recvcounts, .type = datatype, .has_block_per_rank = true},
        .output = {.buffer = recvbuf, .count = get_own_count(recvcounts, comm), .type = datatype}};
}
