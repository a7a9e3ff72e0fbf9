// SPDX-License-Identifier: BSD-3-Clause
// Reduce_scatter: rank r receives block r of the combination of all ranks' vectors.
#include "entry_points.h"

COLLECTIVE(reduce_scatter_block, sendbuf, recvbuf, recvcount, datatype, op, comm) {
    return (struct arguments){
        .name = "reduce_scatter_block",
        .operation = TOPOLOOM_REDUCE_SCATTER,
        .comm = comm,
        .op = op,
        .input = {.buffer = sendbuf, .count = recvcount, .type = datatype, .has_block_per_rank = true},
        .output = {.buffer = recvbuf, .count = recvcount, .type = datatype}};
}
