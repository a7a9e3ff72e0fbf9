// SPDX-License-Identifier: BSD-3-Clause
// Gather: the root receives the blocks of all ranks.
#include "entry_points.h"

COLLECTIVE(gather, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm) {
    return (struct arguments){
        .name = "gather",
        .operation = TOPOLOOM_GATHER,
        .comm = comm,
        .op = MPI_OP_NULL,
        .root = root,
        .input = {.buffer = sendbuf, .count = sendcount, .type = sendtype},
        .output = {.buffer = recvbuf, .count = recvcount, .type = recvtype, .has_block_per_rank = true}};
}
