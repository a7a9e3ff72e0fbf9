// SPDX-License-Identifier: BSD-3-Clause
// Receives buckets, forwards items for other ranks, and delivers the other items. Receives only as many buckets as
// memory allows; senders wait.
#include "stream.h"

static struct incoming* get_incoming_bucket(struct axis* axis, int i) {
    return &axis->incoming[(axis->first_incoming + i) % axis->max_incoming];
}

static int receive_along_axis(struct stream* stream, int number, bool* has_progressed) {
    struct axis* axis = &stream->axes[number];
    while (axis->incoming_count < axis->max_incoming) {
        int found = 0, bytes = 0;
        MPI_Status probed;
        const int tag = stream->first_tag + number;
        int status = PMPI_Iprobe(MPI_ANY_SOURCE, tag, stream->comm, &found, &probed);
        if (status != MPI_SUCCESS || !found) return status;
        PMPI_Get_count(&probed, MPI_BYTE, &bytes);
        struct incoming* incoming = get_incoming_bucket(axis, axis->incoming_count);
        status = PMPI_Irecv(&incoming->bucket->stamp, bytes, MPI_BYTE, probed.MPI_SOURCE, tag, stream->comm,
                            &incoming->request);
        if (status != MPI_SUCCESS) return status;
        incoming->is_counted = false;
        incoming->bucket->bytes = bytes - (int)sizeof incoming->bucket->stamp;
        incoming->bucket->delivered = 0;
        ++axis->incoming_count;
        *has_progressed = true;
    }
    return MPI_SUCCESS;
}

int receive_buckets(struct stream* stream, bool* has_progressed) {
    int status = MPI_SUCCESS;
    for (int a = 0; a < stream->axis_count && status == MPI_SUCCESS; ++a)
        status = receive_along_axis(stream, a, has_progressed);
    return status;
}

/// Returns the first incoming bucket of an axis if it is complete and belongs to this phase, otherwise NULL.
static int test_first_bucket(struct stream* stream, struct axis* axis, struct bucket** arrived) {
    *arrived = NULL;
    // The end of the phase has not yet been reported to the program: do not deliver items of the next phase.
    if (axis->incoming_count == 0 || stream->has_ended) return MPI_SUCCESS;
    struct incoming* first = get_incoming_bucket(axis, 0);
    int flag = 1;
    const int status = PMPI_Test(&first->request, &flag, MPI_STATUS_IGNORE);
    if (!flag) return status;
    if (!first->is_counted) {
        if (is_of_next_phase(&stream->quiescence, first->bucket->stamp)) return status;
        count_received(&stream->quiescence, first->bucket->stamp);
        first->is_counted = true;
    }
    *arrived = first->bucket;
    return status;
}

static void remove_first_bucket(struct axis* axis) {
    axis->first_incoming = (axis->first_incoming + 1) % axis->max_incoming;
    --axis->incoming_count;
}

/// Reads the length of an item of variable size, and advances `at` to the item.
static int read_item_length(const char** at) {
    uint32_t length = 0;
    memcpy(&length, *at, sizeof length);
    *at += sizeof length;
    return (int)length;
}

static void count_delivered(struct stream* stream, int items, int bytes) {
    stream->traffic.items += items;
    stream->traffic.bytes += bytes;
}

static int call_handler(struct stream* stream, struct bucket* bucket) {
    const int size = stream->fast.item_bytes;
    while (bucket->delivered < bucket->bytes) {
        const char* items = bucket->items + bucket->delivered;
        const int count = size != TOPOLOOM_STREAM_VARIABLE ? (bucket->bytes - bucket->delivered) / size
                                                           : read_item_length(&items);
        const bool was_open = stream->fast.open_ranks > 0;
        enter_handler(stream);
        stream->fast.open_ranks = (uint32_t)stream->ranks;
        int taken = stream->handler(stream->context, items, count);
        const bool stops = taken < 0 || taken < (size != TOPOLOOM_STREAM_VARIABLE ? count : 1);
        if (taken < 0) taken = ~taken;
        stream->fast.open_ranks = was_open ? (uint32_t)stream->ranks : 0;
        leave_handler(stream);
        const int before = bucket->delivered;
        if (size != TOPOLOOM_STREAM_VARIABLE)
            bucket->delivered += taken * size;
        else if (taken > 0)
            bucket->delivered = (int)(items + count - bucket->items);
        count_delivered(stream, taken, bucket->delivered - before);
        if (stops) return TOPOLOOM_STREAM_STOPPED;
    }
    return MPI_SUCCESS;
}

/// Forwards items to hops of lower axes, or to this rank itself, as long as there is bucket space.
static int forward_items(struct stream* stream, struct bucket* bucket) {
    const int size = stream->fast.item_bytes;
    while (bucket->delivered < bucket->bytes) {
        const char* at = bucket->items + bucket->delivered;
        uint32_t address = 0;
        memcpy(&address, at, sizeof address);
        at += sizeof address;
        const int bytes = size != TOPOLOOM_STREAM_VARIABLE ? size : read_item_length(&at);
        const int hop = (int)stream->next_hops[address & ~urgent_bit];
        char* space = NULL;
        int status = reserve_record(stream, hop, get_record_bytes(stream, hop, bytes), false, &space);
        if (status != MPI_SUCCESS || space == NULL) return status;
        write_record(stream, hop, space, at, bytes, address);
        bucket->delivered = (int)(at + bytes - bucket->items);
        if ((address & urgent_bit) != 0) status = close_bucket(stream, hop);
        if (status != MPI_SUCCESS) return status;
    }
    return MPI_SUCCESS;
}

/// Forwards items that have arrived along an axis. If bucket space is exhausted, the message is kept, and other axes
/// proceed.
///
/// This cannot deadlock: a message along axis 0 waits only for handlers or pulls. A message along axis a waits for
/// buckets of axes below a, which are freed when their messages are received, by induction over a.
static int forward_along_axis(struct stream* stream, struct axis* axis, bool* has_progressed) {
    for (;;) {
        struct bucket* bucket = NULL;
        int status = test_first_bucket(stream, axis, &bucket);
        if (status != MPI_SUCCESS || bucket == NULL) return status;
        const int before = bucket->delivered;
        status = forward_items(stream, bucket);
        *has_progressed = *has_progressed || bucket->delivered > before;
        if (status != MPI_SUCCESS || bucket->delivered < bucket->bytes) return status;
        remove_first_bucket(axis);
    }
}

static int forward_all_axes(struct stream* stream, bool* has_progressed) {
    bool here = false;
    int status = MPI_SUCCESS;
    for (int a = 1; a < stream->axis_count && status == MPI_SUCCESS; ++a)
        status = forward_along_axis(stream, &stream->axes[a], &here);
    *has_progressed = *has_progressed || here;
    // Items that have arrived for this rank need not wait for a full bucket: deliver them now.
    if (status == MPI_SUCCESS && here && get_filled_bytes(stream, stream->local_hop) > 0)
        status = close_bucket(stream, stream->local_hop);
    return status;
}

static int deliver_local_items(struct stream* stream, bool* has_progressed) {
    while (stream->local.first != NULL) {
        // If the handler pushes to its own rank, the items are queued after this bucket.
        const int status = call_handler(stream, stream->local.first);
        *has_progressed = true;
        if (status != MPI_SUCCESS) return status;
        release_bucket(stream, dequeue(&stream->local));
    }
    return MPI_SUCCESS;
}

static int deliver_axis_0_items(struct stream* stream, bool* has_progressed) {
    struct axis* axis = &stream->axes[0];
    int status = deliver_local_items(stream, has_progressed);
    while (status == MPI_SUCCESS) {
        struct bucket* bucket = NULL;
        status = test_first_bucket(stream, axis, &bucket);
        if (status != MPI_SUCCESS || bucket == NULL) break;
        *has_progressed = true;
        status = call_handler(stream, bucket);
        if (status == MPI_SUCCESS) remove_first_bucket(axis);
    }
    return status;
}

int deliver_arrivals(struct stream* stream, bool* has_progressed) {
    const int status = forward_all_axes(stream, has_progressed);
    return status != MPI_SUCCESS || stream->handler == NULL ? status
                                                            : deliver_axis_0_items(stream, has_progressed);
}

bool has_undelivered_items(const struct stream* stream) {
    for (int a = 0; a < stream->axis_count; ++a)
        if (stream->axes[a].incoming_count > 0) return true;
    return stream->local.first != NULL;
}

int pull_item(struct stream* stream, const void** item, int* bytes) {
    struct axis* axis = &stream->axes[0];
    const int size = stream->fast.item_bytes;
    *item = NULL;
    for (;;) {
        struct bucket* bucket = stream->local.first;
        const bool is_local = bucket != NULL;
        if (!is_local) {
            const int status = test_first_bucket(stream, axis, &bucket);
            if (status != MPI_SUCCESS || bucket == NULL) return status;
        }
        if (bucket->delivered < bucket->bytes) {
            const char* at = bucket->items + bucket->delivered;
            *bytes = size != TOPOLOOM_STREAM_VARIABLE ? size : read_item_length(&at);
            *item = at;
            const int before = bucket->delivered;
            bucket->delivered = (int)(at + *bytes - bucket->items);
            count_delivered(stream, 1, bucket->delivered - before);
            return MPI_SUCCESS;
        }
        // From here on, the item of the previous pull is no longer valid.
        if (is_local)
            release_bucket(stream, dequeue(&stream->local));
        else
            remove_first_bucket(axis);
    }
}
