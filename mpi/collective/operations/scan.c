// SPDX-License-Identifier: BSD-3-Clause
// Inclusive scan: rank r receives the combination of the vectors of ranks 0 to r.
#include "entry_points.h"

COLLECTIVE(scan, sendbuf, recvbuf, count, datatype, op, comm) {
    return (struct arguments){.name = "scan",
                              .operation = TOPOLOOM_SCAN,
                              .comm = comm,
                              .op = op,
                              .input = {.buffer = sendbuf, .count = count, .type = datatype},
                              .output = {.buffer = recvbuf, .count = count, .type = datatype}};
}
