// SPDX-License-Identifier: BSD-3-Clause
// Scatter of blocks of different sizes.
#include "entry_points.h"

COLLECTIVE(scatterv, sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm) {
    return (struct arguments){.name = "scatterv",
                              .operation = TOPOLOOM_SCATTER,
                              .comm = comm,
                              .op = MPI_OP_NULL,
                              .root = root,
                              .is_vector = true,
                              .input = {.buffer = sendbuf,
                                        .counts = sendcounts,
                                        .displs = displs,
                                        .type = sendtype,
                                        .has_block_per_rank = true},
                              .output = {.buffer = recvbuf, .count = recvcount, .type = recvtype}};
}
