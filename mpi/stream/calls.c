// SPDX-License-Identifier: BSD-3-Clause
// What programs call, but to make and free a stream.
#include "stream.h"

static int check_push(const struct stream* stream, int bytes, int rank) {
    const int size = stream->front.item_bytes;
    if (rank < 0 || rank >= stream->ranks)
        return raise_error(stream->comm, MPI_ERR_RANK, "stream_push", "rank %d is none of the ranks 0 to %d",
                           rank, stream->ranks - 1);
    if (stream->front.ranks == 0 && !is_in_handler(stream))
        return raise_error(stream->comm, MPI_ERR_OTHER, "stream_push",
                           "this rank is done, and the phase has not ended");
    // The mesh may get another axis.
    const int address = stream->choice.is_open && stream->axis_count == 1 ? (int)sizeof(uint32_t) : 0;
    if (size == TOPOLOOM_STREAM_VARIABLE && bytes < 0)
        return raise_error(
            stream->comm, MPI_ERR_COUNT, "stream_push",
            "items of variable size are pushed by topoloom_stream_push_bytes, with 0 B or more");
    const int most = stream->room - record_bytes(stream, stream->hop_count - 1, 0) - address;
    if (size == TOPOLOOM_STREAM_VARIABLE ? bytes > most : bytes != size)
        return raise_error(stream->comm, MPI_ERR_COUNT, "stream_push",
                           "an item of %d B; the stream has items of %s%d B", bytes,
                           size == TOPOLOOM_STREAM_VARIABLE ? "up to " : "",
                           size == TOPOLOOM_STREAM_VARIABLE ? most : size);
    return MPI_SUCCESS;
}

static int hop_to(topoloom_stream front, int rank) {
    return front->hops != NULL ? (int)front->hops[rank] : rank;
}

static void note_partner(struct stream* stream, int rank) {
    bool* is_partner = stream->choice.is_partner;
    if (is_partner == NULL || is_partner[rank] || rank == stream->rank) return;
    is_partner[rank] = true;
    ++stream->tally.partners;
}

static void note_room(struct stream* stream, bool has_room) {
    if (!has_room && !stream->lacks_room) stream->silence.since = 0;
    stream->lacks_room = !has_room;
}

static int push(topoloom_stream front, const void* item, int bytes, int rank, uint32_t urgent) {
    struct stream* stream = behind(front);
    int status = check_push(stream, bytes, rank);
    if (status != MPI_SUCCESS) return status;
    int hop = hop_to(front, rank), record = record_bytes(stream, hop, bytes);
    bool moved = false;
    char* room = NULL;
    if (stream->hops[hop].open != NULL && front->buckets[hop].end - front->buckets[hop].at < record) {
        status = close_bucket(stream, hop);
        // Who pushes all the time receives now and then.
        if (status == MPI_SUCCESS) status = step(stream, false, &moved);
    }
    for (bool tried = false; status == MPI_SUCCESS; tried = true) {
        // A handler of another stream may be in its next phase already: what it pushes is for the next one here, too.
        const bool is_over = front->ranks == 0 && !stream->has_ended;
        if (!is_over) status = find_room(stream, hop, record, stream->in_handler, &room);
        note_room(stream, room != NULL || is_over);
        if (status != MPI_SUCCESS || room != NULL) break;
        if (stream->handler == NULL && tried) return TOPOLOOM_STREAM_FULL;
        status = step_all(stream, false);
        hop = hop_to(front, rank);  // the phase may have ended, and the mesh changed
        record = record_bytes(stream, hop, bytes);
    }
    if (status != MPI_SUCCESS) return status;
    note_partner(stream, rank);
    write_record(stream, hop, room, item, bytes, (uint32_t)rank | urgent);
    return urgent != 0 ? close_bucket(stream, hop) : MPI_SUCCESS;
}

int topoloom_stream_push_bytes(topoloom_stream front, const void* item, int bytes, int rank) {
    return push(front, item, bytes, rank, 0);
}

int topoloom_stream_push_urgent(topoloom_stream front, const void* item, int bytes, int rank) {
    return push(front, item, bytes, rank, urgent_bit);
}

int topoloom_stream_push_many(topoloom_stream front, const void* items, const int* ranks, long long count,
                              long long* pushed) {
    const char* item = items;
    int status = MPI_SUCCESS;
    for (*pushed = 0; *pushed < count; ++*pushed, item += front->item_bytes) {
        status = topoloom_stream_push(front, item, ranks[*pushed]);
        if (status != MPI_SUCCESS) break;
    }
    return status;
}

static int check_outside(const struct stream* stream, const char* name) {
    if (!stream->in_handler) return MPI_SUCCESS;
    return raise_error(stream->comm, MPI_ERR_OTHER, name, "called by a handler of the stream");
}

int topoloom_stream_pull(topoloom_stream front, const void** item, int* bytes) {
    struct stream* stream = behind(front);
    if (stream->handler != NULL)
        return raise_error(stream->comm, MPI_ERR_OTHER, "stream_pull", "the stream has a handler");
    int status = find_pulled(stream, item, bytes);
    if (status != MPI_SUCCESS || *item != NULL) return status;
    status = step_all(stream, true);
    return status == MPI_SUCCESS ? find_pulled(stream, item, bytes) : status;
}

int topoloom_stream_flush(topoloom_stream front) { return close_all(behind(front)); }

int topoloom_stream_done(topoloom_stream front) {
    struct stream* stream = behind(front);
    const int status = check_outside(stream, "stream_done");
    if (status != MPI_SUCCESS) return status;
    if (!stream->is_done) stream->silence.since = 0;
    stream->is_done = true;
    front->ranks = 0;
    return MPI_SUCCESS;
}

int topoloom_stream_progress(topoloom_stream front, int* ended) {
    struct stream* stream = behind(front);
    *ended = 0;
    int status = check_outside(stream, "stream_progress");
    if (status == MPI_SUCCESS) status = step_all(stream, true);
    if (status != MPI_SUCCESS || !stream->has_ended) return status;
    *ended = 1;
    stream->has_ended = false;
    stream->is_done = false;
    front->ranks = (uint32_t)stream->ranks;
    return MPI_SUCCESS;
}

int topoloom_stream_wait(topoloom_stream front) {
    const struct stream* stream = behind(front);
    int status = check_outside(stream, "stream_wait");
    if (status == MPI_SUCCESS && stream->handler == NULL)
        return raise_error(stream->comm, MPI_ERR_OTHER, "stream_wait",
                           "items are pulled: pull until topoloom_stream_progress says that it ended");
    if (status == MPI_SUCCESS) status = topoloom_stream_done(front);
    for (int ended = 0; status == MPI_SUCCESS && !ended;) status = topoloom_stream_progress(front, &ended);
    return status;
}

int topoloom_stream_choice(topoloom_stream front, int* dimensions, int* bucket_bytes, double* timeout) {
    const struct stream* stream = behind(front);
    *dimensions = stream->axis_count;
    *bucket_bytes = stream->bucket_bytes;
    *timeout = stream->timeout;
    return MPI_SUCCESS;
}

int topoloom_stream_memory(topoloom_stream front, long long* bytes, long long* most) {
    const struct stream* stream = behind(front);
    *bytes = stream->bytes;
    *most = stream->most_bytes;
    return MPI_SUCCESS;
}

const char* topoloom_stream_error(int status) { return get_error_message(status); }
