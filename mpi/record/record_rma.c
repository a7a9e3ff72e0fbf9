// SPDX-License-Identifier: BSD-3-Clause
// Records one-sided calls: put and accumulate send to the target, get receives from it, and calls that fetch
// and modify do both.
#include "record.h"

static void record_rma_access(enum transfer_kind kind, MPI_Win win, int target, int64_t bytes) {
    if (target == MPI_PROC_NULL) return;
    struct rank_group* group = get_win_group(win);
    if (group != NULL) add_transfer(kind, to_world_rank(group, target), bytes);
}

void record_put(MPI_Win win, int target, int64_t count, MPI_Datatype type) {
    record_rma_access(KIND_PUT, win, target, get_bytes(count, type));
}

void record_get(MPI_Win win, int target, int64_t count, MPI_Datatype type) {
    record_rma_access(KIND_GET, win, target, get_bytes(count, type));
}

void record_get_accumulate(MPI_Win win, int target, int64_t count, MPI_Datatype type, int64_t result_count,
                           MPI_Datatype result_type, MPI_Op op) {
    if (op != MPI_NO_OP)
        record_put(win, target, count, type);  // with MPI_NO_OP, the call is only an atomic get
    record_get(win, target, result_count, result_type);
}

void record_fetch_and_op(MPI_Win win, int target, MPI_Datatype type, MPI_Op op) {
    record_get_accumulate(win, target, 1, type, 1, type, op);
}

/// Records a put of two values (the new value and the value to compare with), and a get of the old value.
void record_compare_and_swap(MPI_Win win, int target, MPI_Datatype type) {
    record_put(win, target, 2, type);
    record_get(win, target, 1, type);
}
