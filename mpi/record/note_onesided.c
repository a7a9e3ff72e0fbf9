// SPDX-License-Identifier: BSD-3-Clause
// What one-sided calls move: put and accumulate to the target, get from it, the fetching ones in both directions.
#include "record.h"

static void move(enum kind kind, MPI_Win win, int target, int64_t bytes) {
    if (target == MPI_PROC_NULL) return;
    struct group* group = group_of_win(win);
    if (group != NULL) post(kind, world_rank(group, target), bytes);
}

void note_put(MPI_Win win, int target, int64_t count, MPI_Datatype type) {
    move(KIND_PUT, win, target, bytes_of(count, type));
}

void note_get(MPI_Win win, int target, int64_t count, MPI_Datatype type) {
    move(KIND_GET, win, target, bytes_of(count, type));
}

void note_get_accumulate(MPI_Win win, int target, int64_t count, MPI_Datatype type, int64_t result_count,
                         MPI_Datatype result_type, MPI_Op op) {
    if (op != MPI_NO_OP)
        note_put(win, target, count, type);  // with MPI_NO_OP nothing is sent, it is an atomic get
    note_get(win, target, result_count, result_type);
}

void note_fetch_and_op(MPI_Win win, int target, MPI_Datatype type, MPI_Op op) {
    note_get_accumulate(win, target, 1, type, 1, type, op);
}

/// The new value and the one to compare with travel to the target, the old one comes back.
void note_compare_and_swap(MPI_Win win, int target, MPI_Datatype type) {
    note_put(win, target, 2, type);
    note_get(win, target, 1, type);
}
