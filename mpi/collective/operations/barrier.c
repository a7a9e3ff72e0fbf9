// SPDX-License-Identifier: BSD-3-Clause
// Barrier: no rank leaves before all have entered.
#include "entry_points.h"

COLLECTIVE(barrier, comm) {
    return (struct arguments){
        .name = "barrier", .operation = TOPOLOOM_BARRIER, .comm = comm, .op = MPI_OP_NULL};
}
