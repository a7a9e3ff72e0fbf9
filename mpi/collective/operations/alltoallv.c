// SPDX-License-Identifier: BSD-3-Clause
// Alltoall of blocks of different sizes.
#include "entry_points.h"

COLLECTIVE(alltoallv, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm) {
    return (struct arguments){.name = "alltoallv",
                              .operation = TOPOLOOM_ALLTOALL,
                              .comm = comm,
                              .op = MPI_OP_NULL,
                              .is_vector = true,
                              .input = {.buffer = sendbuf,
                                        .counts = sendcounts,
                                        .displs = sdispls,
                                        .type = sendtype,
                                        .has_block_per_rank = true},
                              .output = {.buffer = recvbuf,
                                         .counts = recvcounts,
                                         .displs = rdispls,
                                         .type = recvtype,
                                         .has_block_per_rank = true}};
}
