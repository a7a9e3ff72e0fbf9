// SPDX-License-Identifier: BSD-3-Clause
// Reduce: the root receives the combination of all ranks' vectors.
#include "entry_points.h"

COLLECTIVE(reduce, sendbuf, recvbuf, count, datatype, op, root, comm) {
    return (struct arguments){.name = "reduce",
                              .operation = TOPOLOOM_REDUCE,
                              .comm = comm,
                              .op = op,
                              .root = root,
                              .input = {.buffer = sendbuf, .count = count, .type = datatype},
                              .output = {.buffer = recvbuf, .count = count, .type = datatype}};
}
