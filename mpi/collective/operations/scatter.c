// SPDX-License-Identifier: BSD-3-Clause
// Scatter: every rank receives its block of the root's vector.
#include "entry_points.h"

COLLECTIVE(scatter, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm) {
    return (struct arguments){
        .name = "scatter",
        .operation = TOPOLOOM_SCATTER,
        .comm = comm,
        .op = MPI_OP_NULL,
        .root = root,
        .input = {.buffer = sendbuf, .count = sendcount, .type = sendtype, .has_block_per_rank = true},
        .output = {.buffer = recvbuf, .count = recvcount, .type = recvtype}};
}
