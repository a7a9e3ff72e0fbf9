// SPDX-License-Identifier: BSD-3-Clause
// Allgather of blocks of different sizes.
#include "entry_points.h"

COLLECTIVE(allgatherv, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm) {
    return (struct arguments){.name = "allgatherv",
                              .operation = TOPOLOOM_ALLGATHER,
                              .comm = comm,
                              .op = MPI_OP_NULL,
                              .is_vector = true,
                              .input = {.buffer = sendbuf, .count = sendcount, .type = sendtype},
                              .output = {.buffer = recvbuf,
                                         .counts = recvcounts,
                                         .displs = displs,
                                         .type = recvtype,
                                         .has_block_per_rank = true}};
}
