/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of small messages: items pushed to the same rank are aggregated into buckets, which are sent as messages.
 *
 * A stream runs in phases. In a phase, ranks push items. With topoloom_stream_done, a rank ends its pushes. The phase
 * ends when all ranks are done and all items are delivered. Then the next phase may begin. Each item is delivered once.
 * Items from one rank to another arrive in push order.
 *
 * A direct stream has one bucket per rank. Over a virtual mesh of d dimensions, a rank sends only along its own lines,
 * to about d P^(1/d) ranks, which forward items. There are fewer buckets, so each fills faster. On the other
 * hand, an item is sent up to d times, and has a 4-byte address on all axes except axis 0, the last axis of a
 * route.
 *
 * Items are delivered only inside push, pull, progress and wait. During long computations, call
 * topoloom_stream_progress repeatedly. Each of these calls advances all streams of the process, so a handler may push
 * into other streams. Only one thread at a time may use the streams of a process.
 *
 * Functions return MPI error codes, and invoke the error handler that the communicator had when the stream was created.
 * The two negative values below are not errors.
 */
#ifndef TOPOLOOM_STREAM_H
#define TOPOLOOM_STREAM_H

#include <mpi.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TOPOLOOM_STREAM_API __attribute__((visibility("default")))

enum {
    TOPOLOOM_STREAM_FULL = -1,   /* item not pushed: pull first */
    TOPOLOOM_STREAM_STOPPED = -2 /* a handler stopped early; remaining items are delivered later */
};
/* Value of item_bytes: items have different lengths. */
enum { TOPOLOOM_STREAM_VARIABLE = 0 };
/* Value of dimensions: a network model chooses the mesh before each phase, from the traffic of the previous phase. */
enum { TOPOLOOM_STREAM_AUTO = -1 };

/* Accessed only by the inline topoloom_stream_push. */
typedef struct topoloom_stream_bucket { /* NOLINT(readability-identifier-naming): C */
    char *next, *end;                   /* free space of the open bucket */
} topoloom_stream_bucket;
typedef struct topoloom_stream_fast_path { /* NOLINT(readability-identifier-naming): C */
    topoloom_stream_bucket* buckets;       /* by next hop */
    const uint32_t* next_hops;             /* by destination rank; NULL: the rank itself */
    uint32_t open_ranks;                   /* number of ranks that accept pushes; 0 after done */
    uint32_t plain_hops; /* buckets of next hops below this contain only items of fixed size */
    int item_bytes;
} topoloom_stream_fast_path;
typedef topoloom_stream_fast_path* topoloom_stream; /* NOLINT(readability-identifier-naming): C */

/* Handler of delivered items: `items` are `count` consecutive items of fixed size, or one item of `count` bytes.
 * Returns the number of processed items: `count`, or 1 for an item of variable size. If it returns fewer, or
 * ~processed, the delivering call returns TOPOLOOM_STREAM_STOPPED, and the remaining items are delivered later. A
 * handler may push; it must not wait, pull, or free a stream. Items of fixed size are aligned for any type of that
 * size. An item of variable size is not aligned and must be copied. */
typedef int topoloom_stream_handler(void* context, const void* items, int count); /* NOLINT */

/* Zero selects the default, given in brackets. item_bytes, bucket_bytes and the mesh must be equal on all ranks. */
typedef struct topoloom_stream_options { /* NOLINT(readability-identifier-naming): C */
    /* Bytes per message [65,536 for up to 16 next hops, decreasing to 8,192 for 128 or more hops or with a memory
     * limit]. */
    int bucket_bytes;
    /* Memory limit of all buckets; pushes by handlers may exceed it [about 2 buckets per next hop plus 36 buckets, or
     * plus 12 if a bucket is below 16 KiB]. */
    long long memory_bytes;
    /* Maximum seconds that an item waits in a bucket on each hop, if ranks call stream functions often enough
     * [0.001]. */
    double flush_timeout;
    /* Dimensions of the mesh, 1 to 4 [1: direct]. TOPOLOOM_STREAM_AUTO also chooses flush_timeout and, for items of
     * fixed size, bucket_bytes, if these are 0. */
    int dimensions;
    /* Extents of the axes; their product must be at least the number of ranks [nearly equal extents]. */
    const int* extents;
    /* Ranks in mesh order; the last axis varies fastest [node by node]. */
    const int* order;
    /* Seconds without progress after which a rank that is done, or blocked in a push, raises an error [never]. */
    double stall_timeout;
    /* Seconds per message and per byte, for TOPOLOOM_STREAM_AUTO [measured]. */
    double alpha, beta;
} topoloom_stream_options;

/* Creates a stream over a private duplicate of comm; comm may be freed before the stream. Collective. If `handler` is
 * NULL, items must be pulled. If `options` is NULL, all options have their defaults. Fails on all ranks if options of
 * one rank are invalid. */
TOPOLOOM_STREAM_API int topoloom_stream_create(MPI_Comm comm, int item_bytes,
                                               topoloom_stream_handler* handler, void* context,
                                               const topoloom_stream_options* options,
                                               topoloom_stream* stream);
/* Frees a stream between two phases, and sets it to NULL. Collective. After MPI_Finalize, only frees memory. Fails
 * during a phase. */
TOPOLOOM_STREAM_API int topoloom_stream_free(topoloom_stream* stream);
/* Abandons a stream during a phase, such as after an error, and sets it to NULL. No more items are delivered. Not
 * collective: other ranks detect this only by stall_timeout. The communicator, and buckets of messages in flight, stay
 * allocated until MPI_Finalize. Fails in a handler. */
TOPOLOOM_STREAM_API int topoloom_stream_abandon(topoloom_stream* stream);

/* Pushes an item of `bytes` bytes to a rank. If the stream has a handler, waits for bucket space and delivers items
 * meanwhile; inside a handler, never waits. Without a handler, may return TOPOLOOM_STREAM_FULL. Fails if the rank or
 * size is invalid, or this rank is done. */
TOPOLOOM_STREAM_API int topoloom_stream_push_bytes(topoloom_stream stream, const void* item, int bytes,
                                                   int rank);

/* Pushes an urgent item: on each hop, its bucket, with all items pushed before, is sent at once. */
TOPOLOOM_STREAM_API int topoloom_stream_push_urgent(topoloom_stream stream, const void* item, int bytes,
                                                    int rank);

/* Pushes an item of the stream's fixed size. Inline. */
static inline int topoloom_stream_push(topoloom_stream stream, const void* item, int rank) {
    if ((uint32_t)rank < stream->open_ranks) {
        const uint32_t hop = stream->next_hops != NULL ? stream->next_hops[rank] : (uint32_t)rank;
        topoloom_stream_bucket* const bucket = &stream->buckets[hop];
        if (bucket->next != bucket->end && hop < stream->plain_hops) {
            memcpy(bucket->next, item, (size_t)stream->item_bytes);
            bucket->next += stream->item_bytes;
            return MPI_SUCCESS;
        }
    }
    return topoloom_stream_push_bytes(
        stream, item, stream->item_bytes == TOPOLOOM_STREAM_VARIABLE ? -1 : stream->item_bytes, rank);
}

/* Pushes `count` consecutive items of the fixed size, item i to ranks[i]. `pushed` is the number of pushed items; less
 * than `count` only if the call does not return MPI_SUCCESS. */
TOPOLOOM_STREAM_API int topoloom_stream_push_many(topoloom_stream stream, const void* items, const int* ranks,
                                                  long long count, long long* pushed);

/* Returns the next delivered item of a stream without a handler, valid until the next call on this stream. `item` is
 * NULL if no item has arrived. */
TOPOLOOM_STREAM_API int topoloom_stream_pull(topoloom_stream stream, const void** item, int* bytes);

/* Sends all non-empty buckets. Without this call, a bucket is sent when it is full, after the flush timeout,
 * or when this rank is idle: it is done, or it has called progress or pull without a push for 1 % of the
 * timeout. */
TOPOLOOM_STREAM_API int topoloom_stream_flush(topoloom_stream stream);
/* Ends the pushes of this rank in this phase; handlers may still push. */
TOPOLOOM_STREAM_API int topoloom_stream_done(topoloom_stream stream);
/* Receives, delivers and sends without waiting. `ended` is 1 once, when the phase has ended on all ranks. */
TOPOLOOM_STREAM_API int topoloom_stream_progress(topoloom_stream stream, int* ended);
/* Calls done, then progress until the phase has ended. Only for streams with a handler. */
TOPOLOOM_STREAM_API int topoloom_stream_wait(topoloom_stream stream);
/* Returns the settings of the current or next phase: dimensions of the mesh, bytes per bucket, and flush timeout in
 * seconds. */
TOPOLOOM_STREAM_API int topoloom_stream_get_settings(topoloom_stream stream, int* dimensions,
                                                     int* bucket_bytes, double* flush_timeout);
/* Returns the current and the peak memory of all buckets in bytes. */
TOPOLOOM_STREAM_API int topoloom_stream_get_memory(topoloom_stream stream, long long* bytes,
                                                   long long* peak_bytes);
/* Returns the message of the last error in this thread, which must have returned `status`. The message is empty for
 * errors of MPI, and valid until the next error. */
TOPOLOOM_STREAM_API const char* topoloom_stream_error(int status);

#ifdef __cplusplus
}
#endif

#endif
