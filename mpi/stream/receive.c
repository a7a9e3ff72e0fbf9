// SPDX-License-Identifier: BSD-3-Clause
// Receives buckets, passes on what is for other ranks, and delivers the rest. No more is received than there is room for:
// the senders wait.
#include "stream.h"

static struct arrival* arrival_at(struct axis* axis, int i) {
    return &axis->arrivals[(axis->begin + i) % axis->most_count];
}

static int receive_along(struct stream* stream, int number, bool* moved) {
    struct axis* axis = &stream->axes[number];
    while (axis->count < axis->most_count) {
        int found = 0, bytes = 0;
        MPI_Status probed;
        const int tag = stream->first_tag + number;
        int status = PMPI_Iprobe(MPI_ANY_SOURCE, tag, stream->comm, &found, &probed);
        if (status != MPI_SUCCESS || !found) return status;
        PMPI_Get_count(&probed, MPI_BYTE, &bytes);
        struct arrival* arrival = arrival_at(axis, axis->count);
        status = PMPI_Irecv(&arrival->bucket->stamp, bytes, MPI_BYTE, probed.MPI_SOURCE, tag, stream->comm,
                            &arrival->request);
        if (status != MPI_SUCCESS) return status;
        arrival->counted = false;
        arrival->bucket->bytes = bytes - (int)sizeof arrival->bucket->stamp;
        arrival->bucket->delivered = 0;
        ++axis->count;
        *moved = true;
    }
    return MPI_SUCCESS;
}

int receive(struct stream* stream, bool* moved) {
    int status = MPI_SUCCESS;
    for (int a = 0; a < stream->axis_count && status == MPI_SUCCESS; ++a)
        status = receive_along(stream, a, moved);
    return status;
}

/// Whether the first message that was asked for has come, and may be looked at.
static int has_come(struct stream* stream, struct axis* axis, bool* come) {
    // Where the program does not know yet that a phase has ended, nothing of the next may be seen.
    *come = axis->count > 0 && !stream->has_ended;
    if (!*come) return MPI_SUCCESS;
    struct arrival* first = arrival_at(axis, 0);
    int flag = 1;
    const int status = PMPI_Test(&first->request, &flag, MPI_STATUS_IGNORE);
    *come = flag && (first->counted || !is_of_next_phase(&stream->quiescence, first->bucket->stamp));
    if (*come && !first->counted) count_received(&stream->quiescence, first->bucket->stamp);
    first->counted = first->counted || *come;
    return status;
}

static void remove_first(struct axis* axis) {
    axis->begin = (axis->begin + 1) % axis->most_count;
    --axis->count;
}

/// Of an item that has a length of its own, and the item behind it.
static int read_length(const char** at) {
    uint32_t length = 0;
    memcpy(&length, *at, sizeof length);
    *at += sizeof length;
    return (int)length;
}

static void count_taken(struct stream* stream, int items, int bytes) {
    stream->tally.items += items;
    stream->tally.bytes += bytes;
}

static int call_handler(struct stream* stream, struct bucket* bucket) {
    const int size = stream->front.item_bytes;
    while (bucket->delivered < bucket->bytes) {
        const char* items = bucket->items + bucket->delivered;
        const int count = size != TOPOLOOM_STREAM_VARIABLE ? (bucket->bytes - bucket->delivered) / size
                                                           : read_length(&items);
        const bool was_open = stream->front.ranks > 0;
        begin_handler(stream);
        stream->front.ranks = (uint32_t)stream->ranks;
        int taken = stream->handler(stream->context, items, count);
        const bool stops = taken < 0 || taken < (size != TOPOLOOM_STREAM_VARIABLE ? count : 1);
        if (taken < 0) taken = ~taken;
        stream->front.ranks = was_open ? (uint32_t)stream->ranks : 0;
        end_handler(stream);
        const int before = bucket->delivered;
        if (size != TOPOLOOM_STREAM_VARIABLE)
            bucket->delivered += taken * size;
        else if (taken > 0)
            bucket->delivered = (int)(items + count - bucket->items);
        count_taken(stream, taken, bucket->delivered - before);
        if (stops) return TOPOLOOM_STREAM_STOPPED;
    }
    return MPI_SUCCESS;
}

/// Passes items on to hops along axes before the message's own, or to this rank itself, while there is room.
static int forward(struct stream* stream, struct bucket* bucket) {
    const int size = stream->front.item_bytes;
    while (bucket->delivered < bucket->bytes) {
        const char* at = bucket->items + bucket->delivered;
        uint32_t target = 0;
        memcpy(&target, at, sizeof target);
        at += sizeof target;
        const int bytes = size != TOPOLOOM_STREAM_VARIABLE ? size : read_length(&at);
        const int hop = (int)stream->next_hops[target & ~urgent_bit];
        char* room = NULL;
        int status = find_room(stream, hop, record_bytes(stream, hop, bytes), false, &room);
        if (status != MPI_SUCCESS || room == NULL) return status;
        write_record(stream, hop, room, at, bytes, target);
        bucket->delivered = (int)(at + bytes - bucket->items);
        if ((target & urgent_bit) != 0) status = close_bucket(stream, hop);
        if (status != MPI_SUCCESS) return status;
    }
    return MPI_SUCCESS;
}

/// Who has no room for an item keeps its message, and goes on with other axes.
///
/// No ranks wait for each other in a circle: a message along axis 0 waits for handlers or pulls alone, and one along axis
/// a for buckets of axes below a, which come back as the messages in them are received, by induction over a.
static int forward_along(struct stream* stream, struct axis* axis, bool* moved) {
    for (;;) {
        bool come = false;
        int status = has_come(stream, axis, &come);
        if (status != MPI_SUCCESS || !come) return status;
        struct bucket* bucket = arrival_at(axis, 0)->bucket;
        const int before = bucket->delivered;
        status = forward(stream, bucket);
        *moved = *moved || bucket->delivered > before;
        if (status != MPI_SUCCESS || bucket->delivered < bucket->bytes) return status;
        remove_first(axis);
    }
}

static int forward_all(struct stream* stream, bool* moved) {
    bool here = false;
    int status = MPI_SUCCESS;
    for (int a = 1; a < stream->axis_count && status == MPI_SUCCESS; ++a)
        status = forward_along(stream, &stream->axes[a], &here);
    *moved = *moved || here;
    // What is there need not wait for more.
    if (status == MPI_SUCCESS && here && is_filled(stream, stream->own_hop))
        status = close_bucket(stream, stream->own_hop);
    return status;
}

static int deliver_own(struct stream* stream, bool* moved) {
    while (stream->own.first != NULL) {
        // What the handler pushes to its own rank comes after it.
        const int status = call_handler(stream, stream->own.first);
        *moved = true;
        if (status != MPI_SUCCESS) return status;
        drop_bucket(stream, take_first(&stream->own));
    }
    return MPI_SUCCESS;
}

static int deliver_last(struct stream* stream, bool* moved) {
    struct axis* axis = &stream->axes[0];
    int status = deliver_own(stream, moved);
    while (status == MPI_SUCCESS) {
        bool come = false;
        status = has_come(stream, axis, &come);
        if (status != MPI_SUCCESS || !come) break;
        *moved = true;
        status = call_handler(stream, arrival_at(axis, 0)->bucket);
        if (status == MPI_SUCCESS) remove_first(axis);
    }
    return status;
}

int deliver_arrivals(struct stream* stream, bool* moved) {
    const int status = forward_all(stream, moved);
    return status != MPI_SUCCESS || stream->handler == NULL ? status : deliver_last(stream, moved);
}

bool has_undelivered(const struct stream* stream) {
    for (int a = 0; a < stream->axis_count; ++a)
        if (stream->axes[a].count > 0) return true;
    return stream->own.first != NULL;
}

int find_pulled(struct stream* stream, const void** item, int* bytes) {
    struct axis* axis = &stream->axes[0];
    const int size = stream->front.item_bytes;
    *item = NULL;
    for (;;) {
        struct bucket* bucket = stream->own.first;
        const bool is_own = bucket != NULL;
        if (!is_own) {
            bool come = false;
            const int status = has_come(stream, axis, &come);
            if (status != MPI_SUCCESS || !come) return status;
            bucket = arrival_at(axis, 0)->bucket;
        }
        if (bucket->delivered < bucket->bytes) {
            const char* at = bucket->items + bucket->delivered;
            *bytes = size != TOPOLOOM_STREAM_VARIABLE ? size : read_length(&at);
            *item = at;
            const int before = bucket->delivered;
            bucket->delivered = (int)(at + *bytes - bucket->items);
            count_taken(stream, 1, bucket->delivered - before);
            return MPI_SUCCESS;
        }
        // The program has had the last item of it until now.
        if (is_own)
            drop_bucket(stream, take_first(&stream->own));
        else
            remove_first(axis);
    }
}
