// SPDX-License-Identifier: BSD-3-Clause
// Creates, frees and abandons streams.
#include <stdio.h>
#include <stdlib.h>

#include "stream.h"

static const double default_flush_timeout = 1e-3;

static void free_stream(struct stream* stream) {
    free_layout(stream);
    free(stream->tuning.is_destination);
    free(stream->order);
    free(stream);
}

/// Minimum bytes of a bucket for one item on any hop.
static long long get_min_bucket_bytes(int item_bytes) {
    return item_bytes + 2LL * (long long)sizeof(uint32_t) + (long long)sizeof(struct stamp);
}

static void enable_tuning(struct stream* stream, const topoloom_stream_options* options) {
    enum { least = 1024 };
    struct tuning* tuning = &stream->tuning;
    const int item = stream->fast.item_bytes;
    tuning->is_enabled = true;
    tuning->is_bucket_fixed = options->bucket_bytes != 0 || item == TOPOLOOM_STREAM_VARIABLE;
    tuning->is_timeout_fixed = options->flush_timeout != 0;
    tuning->alpha = options->alpha;
    tuning->beta = options->beta;
    tuning->min_bucket_bytes = tuning->is_bucket_fixed ? 0 : least;
    // Every candidate for the bucket size must hold an item. Larger items are rejected later.
    while (!tuning->is_bucket_fixed && tuning->min_bucket_bytes < get_min_bucket_bytes(item) &&
           tuning->min_bucket_bytes < max_default_bucket_bytes)
        tuning->min_bucket_bytes *= 2;
}

/// Returns a description of an invalid argument, written to `reason`, or NULL if all arguments are valid.
static const char* find_invalid_option(struct stream* stream, topoloom_stream_options* options, char* reason,
                                       size_t size) {
    const int item = stream->fast.item_bytes;
    if (compute_mesh_layout(stream, options, reason, size) != NULL) return reason;
    if (options->bucket_bytes == 0)
        options->bucket_bytes = get_default_bucket_bytes(stream->hop_count, options->memory_bytes != 0);
    stream->bucket_bytes = options->bucket_bytes;
    stream->memory_bytes = options->memory_bytes;
    if (item < 0) {
        snprintf(reason, size, "item_bytes is %d, but must not be negative", item);
    } else if (options->bucket_bytes < get_min_bucket_bytes(item)) {
        snprintf(reason, size, "bucket_bytes is %d, but an item needs %lld or more", options->bucket_bytes,
                 get_min_bucket_bytes(item));
    } else if (!(options->flush_timeout > 0)) {
        snprintf(reason, size, "flush_timeout is %g s, but must be positive", options->flush_timeout);
    } else if (!(options->stall_timeout >= 0)) {
        snprintf(reason, size, "stall_timeout is %g s, but must not be negative", options->stall_timeout);
    } else if (!(options->alpha >= 0 && options->beta >= 0)) {
        snprintf(reason, size, "alpha is %g s and beta %g s, but must not be negative", options->alpha,
                 options->beta);
    } else {
        stream->payload_bytes = options->bucket_bytes - (int)sizeof(struct stamp);
        if (fits_memory(options->memory_bytes, stream->axis_count, options->bucket_bytes)) return NULL;
        snprintf(reason, size,
                 "memory_bytes is %lld, but one bucket to send and one to receive per axis need %lld",
                 options->memory_bytes, get_min_memory(stream->axis_count, options->bucket_bytes));
    }
    return reason;
}

enum agreement { agreed, invalid_here, invalid_elsewhere, out_of_memory, unequal };

/// Agrees with all ranks on whether creation succeeds, so that no rank hangs.
static int agree_on_creation(const struct stream* stream, bool is_invalid, bool is_allocated, int layout_hash,
                             enum agreement* agreement) {
    enum { values = 8 };
    const int item = stream->fast.item_bytes, payload = stream->payload_bytes;
    const int own[values] = {is_invalid, !is_allocated, item,        ~item,
                             payload,    ~payload,      layout_hash, ~layout_hash};
    int most[values];
    const int status = PMPI_Allreduce(own, most, values, MPI_INT, MPI_MAX, stream->comm);
    *agreement = agreed;
    if (status != MPI_SUCCESS) return status;
    if (most[0])
        *agreement = is_invalid ? invalid_here : invalid_elsewhere;
    else if (most[1])
        *agreement = out_of_memory;
    else if (most[2] != ~most[3] || most[4] != ~most[5] || most[6] != ~most[7])
        *agreement = unequal;
    return MPI_SUCCESS;
}

static int duplicate_comm(MPI_Comm comm, struct stream* stream) {
    int is_inter = 0;
    int status = PMPI_Comm_test_inter(comm, &is_inter);
    if (status == MPI_SUCCESS && is_inter)
        return raise_error(comm, MPI_ERR_COMM, "stream_create", "intercommunicators are not supported");
    if (status == MPI_SUCCESS) status = PMPI_Comm_dup(comm, &stream->comm);
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    if (status == MPI_SUCCESS) status = PMPI_Comm_get_errhandler(comm, &handler);
    if (status != MPI_SUCCESS) return status;
    status = PMPI_Comm_set_errhandler(stream->comm, handler);
    if (handler != MPI_ERRORS_ARE_FATAL && handler != MPI_ERRORS_RETURN) PMPI_Errhandler_free(&handler);
    PMPI_Comm_rank(stream->comm, &stream->rank);
    PMPI_Comm_size(stream->comm, &stream->ranks);
    return status;
}

static int raise_disagreement(const struct stream* stream, enum agreement agreement, const char* reason) {
    switch (agreement) {
        case invalid_here:
            return raise_error(stream->comm, MPI_ERR_ARG, "stream_create", "%s", reason);
        case invalid_elsewhere:
            return raise_error(stream->comm, MPI_ERR_ARG, "stream_create",
                               "another rank has an invalid option");
        case out_of_memory:
            return raise_error(stream->comm, MPI_ERR_NO_MEM, "stream_create", "a rank has not enough memory");
        default:
            return raise_error(stream->comm, MPI_ERR_ARG, "stream_create",
                               "item_bytes, bucket_bytes or the mesh are not the same on all ranks");
    }
}

static int set_up_stream(struct stream* stream, topoloom_stream_options* options) {
    char reason[160];
    stream->flush_timeout = options->flush_timeout;
    stream->stall.timeout = options->stall_timeout;
    const bool is_invalid = find_invalid_option(stream, options, reason, sizeof reason) != NULL;
    bool is_allocated = false;
    if (!is_invalid) {
        divide_memory(stream);
        is_allocated = allocate_layout(stream);
    }
    enum agreement agreement = agreed;
    const int* order = options->order != NULL ? options->order : stream->order;
    const int hash = is_invalid ? 0 : hash_layout(stream, order);
    int status = agree_on_creation(stream, is_invalid, is_allocated, hash, &agreement);
    if (status != MPI_SUCCESS) return status;
    if (agreement != agreed) return raise_disagreement(stream, agreement, reason);
    enable_fast_path(stream, order);
    stream->fast.open_ranks = (uint32_t)stream->ranks;
    if (stream->tuning.is_enabled) status = measure_network(stream);
    if (status != MPI_SUCCESS) return status;
    return register_stream(stream);
}

int topoloom_stream_create(MPI_Comm comm, int item_bytes, topoloom_stream_handler* handler, void* context,
                           const topoloom_stream_options* user_options, topoloom_stream* stream) {
    topoloom_stream_options options = user_options != NULL ? *user_options : (topoloom_stream_options){0};
    struct stream* created = calloc(1, sizeof *created);
    if (created == NULL) return raise_error(comm, MPI_ERR_NO_MEM, "stream_create", "not enough memory");
    created->fast.item_bytes = item_bytes;
    created->handler = handler;
    created->context = context;
    created->comm = MPI_COMM_NULL;
    int status = duplicate_comm(comm, created);
    if (status == MPI_SUCCESS) status = find_rank_order(created, &options);
    if (status == MPI_SUCCESS) {
        if (options.dimensions == TOPOLOOM_STREAM_AUTO) {
            enable_tuning(created, &options);
            options.dimensions = choose_initial_dimensions(created);
        }
        if (options.flush_timeout == 0) options.flush_timeout = default_flush_timeout;
        status = set_up_stream(created, &options);
    }
    if (status == MPI_SUCCESS) {
        *stream = &created->fast;
        return status;
    }
    if (created->comm != MPI_COMM_NULL) PMPI_Comm_free(&created->comm);
    free_stream(created);
    return status;
}

int topoloom_stream_free(topoloom_stream* handle) {
    if (*handle == NULL) return MPI_SUCCESS;
    struct stream* stream = get_stream(*handle);
    if (is_finalized(stream)) return topoloom_stream_abandon(handle);
    if (stream->is_in_handler || stream->is_done || has_unsent_items(stream) || has_undelivered_items(stream))
        return raise_error(stream->comm, MPI_ERR_OTHER, "stream_free",
                           "the phase of the stream has not ended");
    *handle = NULL;
    unregister_stream(stream);
    int status = finish_wave(stream);
    if (status == MPI_SUCCESS) status = PMPI_Comm_free(&stream->comm);
    free_stream(stream);
    return status;
}

/// Whether MPI may still access the stream's memory.
static bool has_requests(const struct stream* stream) {
    bool has = stream->send_count > 0 || stream->wave.request_count > 0;
    for (int a = 0; a < stream->axis_count; ++a) has = has || stream->axes[a].incoming_count > 0;
    return has && !is_finalized(stream);
}

int topoloom_stream_abandon(topoloom_stream* handle) {
    if (*handle == NULL) return MPI_SUCCESS;
    struct stream* stream = get_stream(*handle);
    if (is_process_in_handler(stream))
        return raise_error(stream->comm, MPI_ERR_OTHER, "stream_abandon", "called in a handler");
    *handle = NULL;
    unregister_stream(stream);
    // Other ranks may still send, so the communicator and the memory of messages in flight are not freed.
    if (!has_requests(stream)) free_stream(stream);
    return MPI_SUCCESS;
}
