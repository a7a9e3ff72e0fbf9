// SPDX-License-Identifier: BSD-3-Clause
// Block sizes and displacements of buffer arguments, and contiguous copies of buffers.
#include "collective.h"

static int64_t get_block_count(const struct buffer_desc* desc, int rank) {
    return desc->counts != NULL ? desc->counts[rank] : desc->count;
}

int64_t get_total_count(const struct buffer_desc* desc, int ranks) {
    if (desc->counts == NULL) return desc->has_block_per_rank ? desc->count * ranks : desc->count;
    int64_t sum = 0;
    for (int r = 0; r < ranks; ++r) sum += desc->counts[r];
    return sum;
}

void locate_blocks(const struct buffer_desc* desc, int64_t unit, int ranks, bool is_copy, int64_t* sizes,
                   int64_t* offsets) {
    int64_t before = 0;
    for (int r = 0; r < ranks; ++r) {
        sizes[r] = get_block_count(desc, r) * unit;
        offsets[r] = (is_copy || desc->displs == NULL ? before : desc->displs[r]) * unit;
        before += get_block_count(desc, r);
    }
}

enum copy_direction { into_copy, out_of_copy };

/// Copies the block of one rank, or all blocks if `rank` is negative.
static int copy_blocks(const struct buffer_desc* desc, const struct type_desc* type, int ranks, int rank,
                       char* copy, enum copy_direction direction) {
    char* buffer = (char*)desc->buffer;
    const int blocks = desc->has_block_per_rank ? ranks : 1;
    int64_t before = 0;
    for (int r = 0; r < blocks; ++r) {
        const int64_t count = get_block_count(desc, r);
        char* block = buffer + (desc->displs != NULL ? desc->displs[r] : before) * type->extent;
        char* packed = copy + before * type->size;
        before += count;
        if (blocks > 1 && rank >= 0 && rank != r) continue;
        const int status = direction == into_copy ? pack_elements(type, block, count, packed)
                                                  : unpack_elements(type, packed, count, block);
        if (status != MPI_SUCCESS) return status;
    }
    return MPI_SUCCESS;
}

int pack_buffer(const struct buffer_desc* desc, const struct type_desc* type, int ranks, int rank,
                char* copy) {
    return copy_blocks(desc, type, ranks, rank, copy, into_copy);
}

int unpack_buffer(const struct buffer_desc* desc, const struct type_desc* type, int ranks, const char* copy) {
    return copy_blocks(desc, type, ranks, -1, (char*)copy, out_of_copy);
}
