// SPDX-License-Identifier: BSD-3-Clause
// Gather of blocks of different sizes.
#include "entry_points.h"

COLLECTIVE(gatherv, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm) {
    return (struct arguments){.name = "gatherv",
                              .operation = TOPOLOOM_GATHER,
                              .comm = comm,
                              .op = MPI_OP_NULL,
                              .root = root,
                              .is_vector = true,
                              .input = {.buffer = sendbuf, .count = sendcount, .type = sendtype},
                              .output = {.buffer = recvbuf,
                                         .counts = recvcounts,
                                         .displs = displs,
                                         .type = recvtype,
                                         .has_block_per_rank = true}};
}
