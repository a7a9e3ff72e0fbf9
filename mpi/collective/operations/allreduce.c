// SPDX-License-Identifier: BSD-3-Clause
// Allreduce: every rank receives the combination of all ranks' vectors.
#include "entry_points.h"

COLLECTIVE(allreduce, sendbuf, recvbuf, count, datatype, op, comm) {
    return (struct arguments){.name = "allreduce",
                              .operation = TOPOLOOM_ALLREDUCE,
                              .comm = comm,
                              .op = op,
                              .input = {.buffer = sendbuf, .count = count, .type = datatype},
                              .output = {.buffer = recvbuf, .count = count, .type = datatype}};
}
