// SPDX-License-Identifier: BSD-3-Clause
// What the program gives and wants: how much, where each rank's block is, and copies without gaps.
#include "collective.h"

static int64_t count_of(const struct side* side, int rank) {
    return side->counts != NULL ? side->counts[rank] : side->count;
}

int64_t total_count(const struct side* side, int ranks) {
    if (side->counts == NULL) return side->by_rank ? side->count * ranks : side->count;
    int64_t sum = 0;
    for (int r = 0; r < ranks; ++r) sum += side->counts[r];
    return sum;
}

bool needs_input(enum topoloom_operation operation) {
    return operation == TOPOLOOM_ALL_TO_ALL || operation == TOPOLOOM_REDUCE_SCATTER;
}

void list_blocks(const struct side* side, int64_t unit, int ranks, bool is_copy, int64_t* units,
                 int64_t* offsets) {
    int64_t before = 0;
    for (int r = 0; r < ranks; ++r) {
        units[r] = count_of(side, r) * unit;
        offsets[r] = (is_copy || side->displs == NULL ? before : side->displs[r]) * unit;
        before += count_of(side, r);
    }
}

int pack_side(const struct side* side, const struct elements* elements, int ranks, int rank, char* copy) {
    const char* buffer = side->buffer;
    if (!side->by_rank) return pack_elements(elements, buffer, side->count, copy);
    int64_t before = 0;
    for (int r = 0; r < ranks; ++r) {
        const int64_t count = count_of(side, r);
        const int64_t offset = side->displs != NULL ? side->displs[r] : before;
        if (rank < 0 || rank == r) {
            const int status = pack_elements(elements, buffer + offset * elements->extent, count,
                                             copy + before * elements->size);
            if (status != MPI_SUCCESS) return status;
        }
        before += count;
    }
    return MPI_SUCCESS;
}

int unpack_side(const struct side* side, const struct elements* elements, int ranks, const char* copy) {
    char* buffer = (char*)side->buffer;
    if (!side->by_rank) return unpack_elements(elements, copy, side->count, buffer);
    int64_t before = 0;
    for (int r = 0; r < ranks; ++r) {
        const int64_t count = count_of(side, r);
        const int64_t offset = side->displs != NULL ? side->displs[r] : before;
        const int status = unpack_elements(elements, copy + before * elements->size, count,
                                           buffer + offset * elements->extent);
        if (status != MPI_SUCCESS) return status;
        before += count;
    }
    return MPI_SUCCESS;
}
