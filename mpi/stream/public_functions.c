// SPDX-License-Identifier: BSD-3-Clause
// Public functions, except for create, free and abandon.
#include "stream.h"

static int check_push(const struct stream* stream, int bytes, int rank) {
    const int size = stream->fast.item_bytes;
    if (rank < 0 || rank >= stream->ranks)
        return raise_error(stream->comm, MPI_ERR_RANK, "stream_push", "rank is %d, but ranks are 0 to %d",
                           rank, stream->ranks - 1);
    if (stream->fast.open_ranks == 0 && !is_process_in_handler(stream))
        return raise_error(stream->comm, MPI_ERR_OTHER, "stream_push",
                           "this rank is done, and the phase has not ended");
    if (size == TOPOLOOM_STREAM_VARIABLE && bytes < 0)
        return raise_error(stream->comm, MPI_ERR_COUNT, "stream_push",
                           "items of variable size need topoloom_stream_push_bytes, with 0 B or more");
    // Tuning may add an axis, which adds an address to each record.
    const int address = stream->tuning.is_enabled && stream->axis_count == 1 ? (int)sizeof(uint32_t) : 0;
    const int most = stream->payload_bytes - get_record_bytes(stream, stream->hop_count - 1, 0) - address;
    if (size == TOPOLOOM_STREAM_VARIABLE ? bytes > most : bytes != size)
        return raise_error(stream->comm, MPI_ERR_COUNT, "stream_push",
                           "the item has %d B, but the stream takes %s%d B", bytes,
                           size == TOPOLOOM_STREAM_VARIABLE ? "up to " : "",
                           size == TOPOLOOM_STREAM_VARIABLE ? most : size);
    return MPI_SUCCESS;
}

static int get_next_hop(topoloom_stream handle, int rank) {
    return handle->next_hops != NULL ? (int)handle->next_hops[rank] : rank;
}

static void count_destination(struct stream* stream, int rank) {
    bool* is_destination = stream->tuning.is_destination;
    if (is_destination == NULL || is_destination[rank] || rank == stream->rank) return;
    is_destination[rank] = true;
    ++stream->traffic.destinations;
}

static void set_blocked(struct stream* stream, bool is_blocked) {
    if (is_blocked && !stream->is_blocked) stream->stall.since = 0;
    stream->is_blocked = is_blocked;
}

static int push_item(topoloom_stream handle, const void* item, int bytes, int rank, uint32_t urgent) {
    struct stream* stream = get_stream(handle);
    int status = check_push(stream, bytes, rank);
    if (status != MPI_SUCCESS) return status;
    int hop = get_next_hop(handle, rank), record = get_record_bytes(stream, hop, bytes);
    bool has_progressed = false;
    char* space = NULL;
    if (stream->hops[hop].open != NULL && handle->buckets[hop].end - handle->buckets[hop].next < record) {
        status = close_bucket(stream, hop);
        // Receive here as well, in case this rank pushes without pause.
        if (status == MPI_SUCCESS) status = advance_stream(stream, false, &has_progressed);
    }
    for (bool has_tried = false; status == MPI_SUCCESS; has_tried = true) {
        // A handler of another stream may already be in its next phase. Then its item also belongs to the next phase of
        // this stream.
        const bool must_wait = handle->open_ranks == 0 && !stream->has_ended;
        if (!must_wait) status = reserve_record(stream, hop, record, stream->is_in_handler, &space);
        set_blocked(stream, space == NULL && !must_wait);
        if (status != MPI_SUCCESS || space != NULL) break;
        if (stream->handler == NULL && has_tried) return TOPOLOOM_STREAM_FULL;
        status = advance_all_streams(stream, false);
        hop = get_next_hop(handle, rank);  // checked again, because the mesh may have changed after a phase
        record = get_record_bytes(stream, hop, bytes);
    }
    if (status != MPI_SUCCESS) return status;
    count_destination(stream, rank);
    write_record(stream, hop, space, item, bytes, (uint32_t)rank | urgent);
    return urgent != 0 ? close_bucket(stream, hop) : MPI_SUCCESS;
}

int topoloom_stream_push_bytes(topoloom_stream handle, const void* item, int bytes, int rank) {
    return push_item(handle, item, bytes, rank, 0);
}

int topoloom_stream_push_urgent(topoloom_stream handle, const void* item, int bytes, int rank) {
    return push_item(handle, item, bytes, rank, urgent_bit);
}

int topoloom_stream_push_many(topoloom_stream handle, const void* items, const int* ranks, long long count,
                              long long* pushed) {
    const char* item = items;
    int status = MPI_SUCCESS;
    for (*pushed = 0; *pushed < count; ++*pushed, item += handle->item_bytes) {
        status = topoloom_stream_push(handle, item, ranks[*pushed]);
        if (status != MPI_SUCCESS) break;
    }
    return status;
}

static int raise_if_in_handler(const struct stream* stream, const char* name) {
    if (!stream->is_in_handler) return MPI_SUCCESS;
    return raise_error(stream->comm, MPI_ERR_OTHER, name, "called in a handler of the stream");
}

int topoloom_stream_pull(topoloom_stream handle, const void** item, int* bytes) {
    struct stream* stream = get_stream(handle);
    if (stream->handler != NULL)
        return raise_error(stream->comm, MPI_ERR_OTHER, "stream_pull", "the stream has a handler");
    int status = pull_item(stream, item, bytes);
    if (status != MPI_SUCCESS || *item != NULL) return status;
    status = advance_all_streams(stream, true);
    return status == MPI_SUCCESS ? pull_item(stream, item, bytes) : status;
}

int topoloom_stream_flush(topoloom_stream handle) { return flush_all_buckets(get_stream(handle)); }

int topoloom_stream_done(topoloom_stream handle) {
    struct stream* stream = get_stream(handle);
    const int status = raise_if_in_handler(stream, "stream_done");
    if (status != MPI_SUCCESS) return status;
    if (!stream->is_done) stream->stall.since = 0;
    stream->is_done = true;
    handle->open_ranks = 0;
    return MPI_SUCCESS;
}

int topoloom_stream_progress(topoloom_stream handle, int* ended) {
    struct stream* stream = get_stream(handle);
    *ended = 0;
    int status = raise_if_in_handler(stream, "stream_progress");
    if (status == MPI_SUCCESS) status = advance_all_streams(stream, true);
    if (status != MPI_SUCCESS || !stream->has_ended) return status;
    *ended = 1;
    stream->has_ended = false;
    stream->is_done = false;
    handle->open_ranks = (uint32_t)stream->ranks;
    return MPI_SUCCESS;
}

int topoloom_stream_wait(topoloom_stream handle) {
    const struct stream* stream = get_stream(handle);
    int status = raise_if_in_handler(stream, "stream_wait");
    if (status == MPI_SUCCESS && stream->handler == NULL)
        return raise_error(stream->comm, MPI_ERR_OTHER, "stream_wait",
                           "the stream has no handler: pull until topoloom_stream_progress sets `ended`");
    if (status == MPI_SUCCESS) status = topoloom_stream_done(handle);
    for (int ended = 0; status == MPI_SUCCESS && !ended;) status = topoloom_stream_progress(handle, &ended);
    return status;
}

int topoloom_stream_get_settings(topoloom_stream handle, int* dimensions, int* bucket_bytes,
                                 double* flush_timeout) {
    const struct stream* stream = get_stream(handle);
    *dimensions = stream->axis_count;
    *bucket_bytes = stream->bucket_bytes;
    *flush_timeout = stream->flush_timeout;
    return MPI_SUCCESS;
}

int topoloom_stream_get_memory(topoloom_stream handle, long long* bytes, long long* peak_bytes) {
    const struct stream* stream = get_stream(handle);
    *bytes = stream->bytes;
    *peak_bytes = stream->peak_bytes;
    return MPI_SUCCESS;
}

const char* topoloom_stream_error(int status) { return get_error_message(status); }
