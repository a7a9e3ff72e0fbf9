// SPDX-License-Identifier: BSD-3-Clause
// Records in buckets. A record consists of the item's address if the next hop forwards it, the item's length
// if that is variable, and the item.
#include "stream.h"

static bool has_length_field(const struct stream* stream) {
    return stream->fast.item_bytes == TOPOLOOM_STREAM_VARIABLE;
}

static bool has_address_field(const struct stream* stream, int hop) { return hop >= stream->final_hops; }

int get_record_bytes(const struct stream* stream, int hop, int item_bytes) {
    const int fields = has_address_field(stream, hop) + has_length_field(stream);
    return fields * (int)sizeof(uint32_t) + item_bytes;
}

/// Sends the fullest bucket of an axis, unless a bucket of this axis is already in flight.
static int close_fullest_bucket(struct stream* stream, const struct axis* axis) {
    int fullest = -1;
    ptrdiff_t most = 0;
    for (int h = axis->first_hop; h < axis->first_hop + axis->hop_count; ++h) {
        const struct hop* hop = &stream->hops[h];
        if (hop->in_flight > 0 || hop->full.first != NULL) return MPI_SUCCESS;
        const ptrdiff_t bytes = get_filled_bytes(stream, h);
        if (bytes <= most) continue;
        most = bytes;
        fullest = h;
    }
    return fullest < 0 ? MPI_SUCCESS : close_bucket(stream, fullest);
}

int reserve_record(struct stream* stream, int hop_number, int bytes, bool may_exceed, char** space) {
    topoloom_stream_bucket* open = &stream->fast.buckets[hop_number];
    struct hop* hop = &stream->hops[hop_number];
    *space = NULL;
    if (hop->open != NULL) {
        if (open->end - open->next >= bytes) {
            *space = open->next;
            return MPI_SUCCESS;
        }
        const int status = close_bucket(stream, hop_number);
        if (status != MPI_SUCCESS) return status;
    }
    if (hop->full.first != NULL && !may_exceed) return MPI_SUCCESS;
    struct bucket* taken = acquire_bucket(stream, hop->axis, may_exceed);
    if (taken == NULL) {
        if (may_exceed) return raise_error(stream->comm, MPI_ERR_NO_MEM, "stream_push", "not enough memory");
        return close_fullest_bucket(stream, &stream->axes[hop->axis]);
    }
    taken->hop = hop_number;
    hop->open = taken;
    // For items of fixed size, exclude the end of the bucket that is too short for an item: then comparing
    // two addresses shows whether the bucket is full.
    const int usable =
        has_length_field(stream) ? stream->payload_bytes : stream->payload_bytes / bytes * bytes;
    *open = (topoloom_stream_bucket){taken->items, taken->items + usable};
    *space = open->next;
    return MPI_SUCCESS;
}

void write_record(struct stream* stream, int hop, char* space, const void* item, int bytes,
                  uint32_t address) {
    const uint32_t length = (uint32_t)bytes;
    if (has_address_field(stream, hop)) {
        memcpy(space, &address, sizeof address);
        space += sizeof address;
    }
    if (has_length_field(stream)) {
        memcpy(space, &length, sizeof length);
        space += sizeof length;
    }
    if (bytes > 0) memcpy(space, item, (size_t)bytes);
    stream->fast.buckets[hop].next = space + bytes;
}
