// SPDX-License-Identifier: BSD-3-Clause
// Alltoall: every rank sends a block to every rank.
#include "entry_points.h"

COLLECTIVE(alltoall, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm) {
    return (struct arguments){
        .name = "alltoall",
        .operation = TOPOLOOM_ALLTOALL,
        .comm = comm,
        .op = MPI_OP_NULL,
        .input = {.buffer = sendbuf, .count = sendcount, .type = sendtype, .has_block_per_rank = true},
        .output = {.buffer = recvbuf, .count = recvcount, .type = recvtype, .has_block_per_rank = true}};
}
