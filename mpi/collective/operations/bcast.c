// SPDX-License-Identifier: BSD-3-Clause
// Bcast: every rank receives the root's vector.
#include "entry_points.h"

COLLECTIVE(bcast, buffer, count, datatype, root, comm) {
    return (struct arguments){.name = "bcast",
                              .operation = TOPOLOOM_BCAST,
                              .comm = comm,
                              .op = MPI_OP_NULL,
                              .root = root,
                              .output = {.buffer = buffer, .count = count, .type = datatype}};
}
