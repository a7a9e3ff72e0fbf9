// SPDX-License-Identifier: BSD-3-Clause
// Allgather: every rank receives the blocks of all ranks.
#include "entry_points.h"

COLLECTIVE(allgather, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm) {
    return (struct arguments){
        .name = "allgather",
        .operation = TOPOLOOM_ALLGATHER,
        .comm = comm,
        .op = MPI_OP_NULL,
        .input = {.buffer = sendbuf, .count = sendcount, .type = sendtype},
        .output = {.buffer = recvbuf, .count = recvcount, .type = recvtype, .has_block_per_rank = true}};
}
