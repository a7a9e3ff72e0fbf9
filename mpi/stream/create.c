// SPDX-License-Identifier: BSD-3-Clause
// Makes and frees streams.
#include <stdio.h>
#include <stdlib.h>

#include "stream.h"

static const double standard_timeout = 1e-3;
enum { most_standard_bucket = 65536 };

/// The large ones of few hops take the least time per item, and those of many together no more memory.
int standard_bucket(int hops, bool has_bound) {
    enum { least = 8192, together = 1 << 20 };
    const int share = together / hops / least * least;
    return has_bound || share < least ? least : share > most_standard_bucket ? most_standard_bucket : share;
}

/// Allocates all but buckets to send.
static bool allocate(struct stream* stream) {
    const size_t hops = (size_t)stream->hop_count;
    const size_t flights = (size_t)stream->most_in_flight * hops;
    stream->hops = calloc(hops, sizeof *stream->hops);
    stream->flights = calloc(flights, sizeof *stream->flights);
    stream->flown = calloc(flights, sizeof(struct bucket*));
    stream->front.buckets = calloc(hops, sizeof *stream->front.buckets);
    if (stream->hops == NULL || stream->flights == NULL || stream->flown == NULL ||
        stream->front.buckets == NULL)
        return false;
    if (stream->axis_count > 1) {
        stream->next_hops = calloc((size_t)stream->ranks, sizeof *stream->next_hops);
        if (stream->next_hops == NULL) return false;
    }
    if (stream->choice.is_open && stream->choice.is_partner == NULL) {
        stream->choice.is_partner = calloc((size_t)stream->ranks, sizeof(bool));
        if (stream->choice.is_partner == NULL) return false;
    }
    for (int a = 0; a < stream->axis_count; ++a) {
        struct axis* axis = &stream->axes[a];
        for (int i = 0; i < axis->most_count; ++i) {
            axis->arrivals[i].bucket = make_bucket(stream, a);
            if (axis->arrivals[i].bucket == NULL) return false;
        }
    }
    return true;
}

static void free_queue(struct queue* queue) {
    for (struct bucket* one; (one = take_first(queue)) != NULL;) free(one);
}

static void free_layout(struct stream* stream) {
    for (int a = 0; a < stream->axis_count; ++a) {
        struct axis* axis = &stream->axes[a];
        for (int i = 0; i < most_arrivals; ++i) free(axis->arrivals[i].bucket);
        struct queue idle = {axis->idle, NULL};
        free_queue(&idle);
    }
    for (int h = 0; stream->hops != NULL && h < stream->hop_count; ++h) {
        free(stream->hops[h].open);
        free_queue(&stream->hops[h].full);
    }
    for (int f = 0; f < stream->flight_count; ++f) free(stream->flown[f]);
    free_queue(&stream->own);
    free(stream->hops);
    free(stream->flights);
    free(stream->flown);
    free(stream->front.buckets);
    free(stream->next_hops);
}

static void free_stream(struct stream* stream) {
    free_layout(stream);
    free(stream->choice.is_partner);
    free(stream->order);
    free(stream);
}

/// A third of what may be used receives, up to what is useful.
static void share_memory(struct stream* stream) {
    const long long buckets = stream->memory_bytes / ((long long)sizeof(struct bucket) + stream->room);
    stream->most_in_flight = stream->bucket_bytes < large_bytes ? most_in_flight : most_large_in_flight;
    for (int a = 0; a < stream->axis_count; ++a) {
        struct axis* axis = &stream->axes[a];
        const long long share = buckets / stream->axis_count,
                        useful = 2LL * (axis->hops + stream->most_in_flight);
        axis->most_count = buckets == 0 || share / 3 > most_arrivals ? most_arrivals : (int)(share / 3);
        if (axis->most_count == 0) axis->most_count = 1;
        const long long left = share - axis->most_count;
        axis->most = (int)(buckets == 0 || left > useful ? useful : left);
    }
}

static long long least_memory(int axes, int bucket_bytes) {
    const long long head = sizeof(struct bucket) - sizeof(struct stamp);
    return 2 * axes * (head + bucket_bytes);
}

bool is_beyond(long long memory_bytes, int axes, int bucket_bytes) {
    return memory_bytes != 0 && memory_bytes < least_memory(axes, bucket_bytes);
}

/// By which hop each rank is reached, and what pushing in line may do.
static void open_front(struct stream* stream, const int* order) {
    name_hops(stream, order);
    const bool is_plain = stream->front.item_bytes != TOPOLOOM_STREAM_VARIABLE;
    // Over a mesh that may change, all pushes are seen.
    const bool is_seen = stream->choice.is_open && stream->axis_count > 1;
    stream->front.plain_hops = is_plain && !is_seen ? (uint32_t)stream->last_hops : 0;
}

int change_layout(struct stream* stream, int dimensions, int bucket_bytes) {
    int extents[most_axes];
    free_layout(stream);
    stream->bytes = 0;
    stream->next_hops = NULL;
    stream->front.hops = NULL;
    for (int a = 0; a < most_axes; ++a) stream->axes[a] = (struct axis){0};
    extents_along(stream, dimensions, extents);
    lay_axes(stream, dimensions, extents);
    stream->bucket_bytes = bucket_bytes;
    stream->room = bucket_bytes - (int)sizeof(struct stamp);
    stream->first_tag = most_axes - stream->first_tag;
    stream->next_flight = 0;
    share_memory(stream);
    if (!allocate(stream))
        return raise_error(stream->comm, MPI_ERR_NO_MEM, "stream_progress",
                           "there is no memory for the mesh of the next phase");
    open_front(stream, stream->order);
    return MPI_SUCCESS;
}

/// Of a bucket that holds an item on any hop.
static long long least_bucket(int item_bytes) {
    return item_bytes + 2LL * (long long)sizeof(uint32_t) + (long long)sizeof(struct stamp);
}

/// Buckets that are open to the model hold an item of any hop.
static void open_choice(struct stream* stream, const topoloom_stream_options* options) {
    enum { least = 1024 };
    struct choice* choice = &stream->choice;
    const int item = stream->front.item_bytes;
    choice->is_bucket_given = options->bucket_bytes != 0 || item == TOPOLOOM_STREAM_VARIABLE;
    choice->is_timeout_given = options->timeout != 0;
    choice->alpha = options->alpha;
    choice->beta = options->beta;
    choice->least_bucket = choice->is_bucket_given ? 0 : least;
    // No bucket that is chosen holds larger ones: they are refused.
    while (!choice->is_bucket_given && choice->least_bucket < least_bucket(item) &&
           choice->least_bucket < most_standard_bucket)
        choice->least_bucket *= 2;
}

/// Why there can't be a stream with these arguments; NULL: there can.
static const char* find_fault(struct stream* stream, topoloom_stream_options* options, char* why,
                              size_t size) {
    const int item = stream->front.item_bytes;
    if (lay_out(stream, options, why, size) != NULL) return why;
    if (options->bucket_bytes == 0)
        options->bucket_bytes = standard_bucket(stream->hop_count, options->memory_bytes != 0);
    stream->bucket_bytes = options->bucket_bytes;
    stream->memory_bytes = options->memory_bytes;
    if (item < 0) {
        snprintf(why, size, "a size of items of %d B is negative", item);
    } else if (options->bucket_bytes < least_bucket(item)) {
        snprintf(why, size, "bucket_bytes of %d holds no item; it takes %lld", options->bucket_bytes,
                 least_bucket(item));
    } else if (!(options->timeout > 0)) {
        snprintf(why, size, "a timeout of %g s is not positive", options->timeout);
    } else if (!(options->patience >= 0)) {
        snprintf(why, size, "a patience of %g s is negative", options->patience);
    } else if (!(options->alpha >= 0 && options->beta >= 0)) {
        snprintf(why, size, "an alpha of %g s or a beta of %g s is negative", options->alpha, options->beta);
    } else {
        stream->room = options->bucket_bytes - (int)sizeof(struct stamp);
        if (!is_beyond(options->memory_bytes, stream->axis_count, options->bucket_bytes)) return NULL;
        snprintf(why, size,
                 "memory_bytes of %lld is below %lld: a bucket to send and one to receive per axis",
                 options->memory_bytes, least_memory(stream->axis_count, options->bucket_bytes));
    }
    return why;
}

enum agreement { agreed, failed_here, failed_elsewhere, without_memory, unequal };

/// All ranks learn whether there is a stream, so that none waits for others.
static int agree(const struct stream* stream, bool faulty, bool made, int layout, enum agreement* agreement) {
    enum { values = 8 };
    const int item = stream->front.item_bytes, room = stream->room;
    const int own[values] = {faulty, !made, item, ~item, room, ~room, layout, ~layout};
    int most[values];
    const int status = PMPI_Allreduce(own, most, values, MPI_INT, MPI_MAX, stream->comm);
    *agreement = agreed;
    if (status != MPI_SUCCESS) return status;
    if (most[0])
        *agreement = faulty ? failed_here : failed_elsewhere;
    else if (most[1])
        *agreement = without_memory;
    else if (most[2] != ~most[3] || most[4] != ~most[5] || most[6] != ~most[7])
        *agreement = unequal;
    return MPI_SUCCESS;
}

static int duplicate(MPI_Comm comm, struct stream* stream) {
    int is_inter = 0;
    int status = PMPI_Comm_test_inter(comm, &is_inter);
    if (status == MPI_SUCCESS && is_inter)
        return raise_error(comm, MPI_ERR_COMM, "stream_create", "an intercommunicator is not served");
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

static int refuse(const struct stream* stream, enum agreement agreement, const char* why) {
    switch (agreement) {
        case failed_here:
            return raise_error(stream->comm, MPI_ERR_ARG, "stream_create", "%s", why);
        case failed_elsewhere:
            return raise_error(stream->comm, MPI_ERR_ARG, "stream_create", "another rank has a wrong option");
        case without_memory:
            return raise_error(stream->comm, MPI_ERR_NO_MEM, "stream_create", "a rank has no memory for it");
        default:
            return raise_error(stream->comm, MPI_ERR_ARG, "stream_create",
                               "item_bytes, bucket_bytes or the mesh are not the same on all ranks");
    }
}

/// The communicator is there.
static int set_up(struct stream* stream, topoloom_stream_options* options) {
    char why[160];
    stream->timeout = options->timeout;
    stream->silence.patience = options->patience;
    const bool faulty = find_fault(stream, options, why, sizeof why) != NULL;
    bool made = false;
    if (!faulty) {
        share_memory(stream);
        made = allocate(stream);
    }
    enum agreement agreement = agreed;
    const int* order = options->order != NULL ? options->order : stream->order;
    const int layout = faulty ? 0 : layout_hash(stream, order);
    int status = agree(stream, faulty, made, layout, &agreement);
    if (status != MPI_SUCCESS) return status;
    if (agreement != agreed) return refuse(stream, agreement, why);
    open_front(stream, order);
    stream->front.ranks = (uint32_t)stream->ranks;
    if (stream->choice.is_open) status = measure_network(stream);
    if (status != MPI_SUCCESS) return status;
    return enter_process(stream);
}

int topoloom_stream_create(MPI_Comm comm, int item_bytes, topoloom_stream_handler* handler, void* context,
                           const topoloom_stream_options* given, topoloom_stream* stream) {
    topoloom_stream_options options = given != NULL ? *given : (topoloom_stream_options){0};
    struct stream* made = calloc(1, sizeof *made);
    if (made == NULL) return raise_error(comm, MPI_ERR_NO_MEM, "stream_create", "there is no memory");
    made->front.item_bytes = item_bytes;
    made->handler = handler;
    made->context = context;
    made->comm = MPI_COMM_NULL;
    int status = duplicate(comm, made);
    if (status == MPI_SUCCESS) status = find_order(made, &options);
    if (status == MPI_SUCCESS) {
        made->choice.is_open = options.dimensions == TOPOLOOM_STREAM_AUTO;
        if (made->choice.is_open) {
            open_choice(made, &options);
            options.dimensions = first_dimensions(made);
        }
        if (options.timeout == 0) options.timeout = standard_timeout;
        status = set_up(made, &options);
    }
    if (status == MPI_SUCCESS) {
        *stream = &made->front;
        return status;
    }
    if (made->comm != MPI_COMM_NULL) PMPI_Comm_free(&made->comm);
    free_stream(made);
    return status;
}

int topoloom_stream_free(topoloom_stream* front) {
    if (*front == NULL) return MPI_SUCCESS;
    struct stream* stream = behind(*front);
    if (is_finalized(stream)) return topoloom_stream_abandon(front);
    if (stream->in_handler || stream->is_done || has_unsent(stream) || has_undelivered(stream))
        return raise_error(stream->comm, MPI_ERR_OTHER, "stream_free",
                           "the phase of the stream has not ended");
    *front = NULL;
    leave_process(stream);
    int status = leave_tree(stream);
    if (status == MPI_SUCCESS) status = PMPI_Comm_free(&stream->comm);
    free_stream(stream);
    return status;
}

/// Whether MPI may still read or write the stream's memory.
static bool has_requests(const struct stream* stream) {
    bool has = stream->flight_count > 0 || stream->tree.request_count > 0;
    for (int a = 0; a < stream->axis_count; ++a) has = has || stream->axes[a].count > 0;
    return has && !is_finalized(stream);
}

int topoloom_stream_abandon(topoloom_stream* front) {
    if (*front == NULL) return MPI_SUCCESS;
    struct stream* stream = behind(*front);
    if (is_in_handler(stream))
        return raise_error(stream->comm, MPI_ERR_OTHER, "stream_abandon", "called by a handler");
    *front = NULL;
    leave_process(stream);
    // Others may still send: the communicator stays, and so does the memory of messages under way.
    if (!has_requests(stream)) free_stream(stream);
    return MPI_SUCCESS;
}
