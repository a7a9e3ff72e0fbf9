// SPDX-License-Identifier: BSD-3-Clause
// Exclusive scan: rank r receives the combination of the vectors of ranks 0 to r - 1.
#include "entry_points.h"

COLLECTIVE(exscan, sendbuf, recvbuf, count, datatype, op, comm) {
    return (struct arguments){.name = "exscan",
                              .operation = TOPOLOOM_EXSCAN,
                              .comm = comm,
                              .op = op,
                              .input = {.buffer = sendbuf, .count = count, .type = datatype},
                              .output = {.buffer = recvbuf, .count = count, .type = datatype}};
}
