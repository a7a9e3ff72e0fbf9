/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of small messages: items pushed to the same rank are aggregated into buckets, one message each.
 *
 * A stream runs in phases. In a phase, ranks push items. topoloom_stream_done says that a rank pushes no more; the phase
 * ends when all ranks are done and every item is delivered. Then the next phase may begin. Each item is delivered once.
 * Items from one rank to another arrive in the order of their pushes.
 *
 * A direct stream has one bucket for each rank. Over a virtual mesh of d dimensions a rank sends only along its own lines, to
 * about d P^(1/d) ranks, which forward items. Buckets are fewer and fill sooner, but an item travels up to d times, with a
 * 4-byte address on every axis but axis 0, which is the last one of a route.
 *
 * Items are delivered inside push, pull, progress and wait only. A rank that computes for long should call
 * topoloom_stream_progress from time to time. Each of these calls advances all streams of the process, so a handler may push
 * into other streams. Only one thread at a time may use the streams of a process.
 *
 * Functions return MPI error codes and invoke the error handler that the communicator had when the stream was created. The two
 * negative values below are not errors.
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
    TOPOLOOM_STREAM_FULL = -1,   /* the item was not pushed: pull first */
    TOPOLOOM_STREAM_STOPPED = -2 /* a handler stopped early; the remaining items are delivered later */
};
/* item_bytes: every item has its own length. */
enum { TOPOLOOM_STREAM_VARIABLE = 0 };
/* dimensions: chosen by a network model before each phase, from the traffic of the previous one. */
enum { TOPOLOOM_STREAM_AUTO = -1 };

/* Read by the inline topoloom_stream_push only. */
typedef struct topoloom_stream_bucket { /* NOLINT(readability-identifier-naming): C */
    char *next, *end;                   /* free space of the bucket that is being filled */
} topoloom_stream_bucket;
typedef struct topoloom_stream_fast_path { /* NOLINT(readability-identifier-naming): C */
    topoloom_stream_bucket* buckets;       /* by next hop */
    const uint32_t* next_hops;             /* by destination rank; NULL: the rank itself */
    uint32_t open_ranks;                   /* ranks below this may be pushed to; 0 after done */
    uint32_t plain_hops; /* buckets of next hops below this hold items of one size and nothing else */
    int item_bytes;
} topoloom_stream_fast_path;
typedef topoloom_stream_fast_path* topoloom_stream; /* NOLINT(readability-identifier-naming): C */

/* Takes delivered items: `count` consecutive items of the fixed size, or one item of `count` bytes. Returns the number of
 * items it took: `count`, or 1 for an item of variable size. If it returns fewer, or ~taken, the delivering call returns
 * TOPOLOOM_STREAM_STOPPED and the remaining items are delivered later. A handler may push; it must not wait, pull, or free a
 * stream. Items of a fixed size are aligned for any type of that size. An item of variable size is not aligned: copy it. */
typedef int topoloom_stream_handler(void* context, const void* items, int count); /* NOLINT */

/* Zero selects the default, in brackets. item_bytes, bucket_bytes and the mesh must be the same on all ranks. */
typedef struct topoloom_stream_options { /* NOLINT(readability-identifier-naming): C */
    /* Bytes of a message [65,536 for up to 16 next hops, down to 8,192 for 128 or more or with a memory limit]. */
    int bucket_bytes;
    /* Limit for all buckets; pushes of handlers may exceed it [about 2 buckets per next hop and 36 more, or 12 more if a
     * bucket is below 16 KiB]. */
    long long memory_bytes;
    /* Seconds an item waits in a bucket on each hop, if ranks call often enough [0.001]. */
    double flush_timeout;
    /* Dimensions of the mesh, 1 to 4 [1: direct]. TOPOLOOM_STREAM_AUTO also chooses flush_timeout, and bucket_bytes for items
     * of a fixed size, if these are 0. */
    int dimensions;
    /* Extents of the axes; their product is at least the number of ranks [about equal]. */
    const int* extents;
    /* Ranks in mesh order, the lines of the last axis first [node by node]. */
    const int* order;
    /* Seconds without progress until a rank that is done, or blocked in a push, raises an error [never]. */
    double stall_timeout;
    /* Seconds per message and per byte, for TOPOLOOM_STREAM_AUTO [measured]. */
    double alpha, beta;
} topoloom_stream_options;

/* Creates a stream over a private duplicate of comm, which may be freed before the stream. Collective. Without a handler
 * (NULL), items are pulled. options NULL: all defaults. Fails on all ranks if one has an invalid option. */
TOPOLOOM_STREAM_API int topoloom_stream_create(MPI_Comm comm, int item_bytes,
                                               topoloom_stream_handler* handler, void* context,
                                               const topoloom_stream_options* options,
                                               topoloom_stream* stream);
/* Frees a stream between two phases and sets it to NULL. Collective. After MPI_Finalize it only frees memory. Fails in the
 * middle of a phase. */
TOPOLOOM_STREAM_API int topoloom_stream_free(topoloom_stream* stream);
/* Abandons a stream in the middle of a phase, such as after an error, and sets it to NULL. Nothing of it is delivered any
 * more. Not collective: other ranks notice by stall_timeout only. Its communicator, and buckets of messages in flight, stay
 * allocated until MPI_Finalize. Fails in a handler. */
TOPOLOOM_STREAM_API int topoloom_stream_abandon(topoloom_stream* stream);

/* Pushes an item of `bytes` bytes to a rank. With a handler it waits for bucket space and delivers meanwhile; inside a handler
 * it never waits. Without a handler it may return TOPOLOOM_STREAM_FULL. Fails if the rank or size is invalid, or this rank is
 * done. */
TOPOLOOM_STREAM_API int topoloom_stream_push_bytes(topoloom_stream stream, const void* item, int bytes,
                                                   int rank);

/* The same for an item that must not wait: its bucket, with all items pushed before, leaves at once on each hop. */
TOPOLOOM_STREAM_API int topoloom_stream_push_urgent(topoloom_stream stream, const void* item, int bytes,
                                                    int rank);

/* Pushes an item of the stream's fixed size; inline. */
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

/* Pushes `count` consecutive items of the fixed size, item i to ranks[i]. `pushed`: how many were pushed; fewer than `count`
 * only if the call does not return MPI_SUCCESS. */
TOPOLOOM_STREAM_API int topoloom_stream_push_many(topoloom_stream stream, const void* items, const int* ranks,
                                                  long long count, long long* pushed);

/* Returns the next delivered item of a stream without a handler, valid until the next call on this stream. NULL: none yet. */
TOPOLOOM_STREAM_API int topoloom_stream_pull(topoloom_stream stream, const void** item, int* bytes);

/* Sends all buckets that hold items. Otherwise a bucket leaves when it is full, after the flush timeout, or when its rank is
 * idle: done, or polling by progress or pull without a push for 1 % of the timeout. */
TOPOLOOM_STREAM_API int topoloom_stream_flush(topoloom_stream stream);
/* Ends the pushes of this rank in this phase; its handler may still push. */
TOPOLOOM_STREAM_API int topoloom_stream_done(topoloom_stream stream);
/* Receives, delivers and sends what is possible without waiting. `ended` is 1 once, when the phase has ended on all ranks. */
TOPOLOOM_STREAM_API int topoloom_stream_progress(topoloom_stream stream, int* ended);
/* Calls done, and progress until the phase has ended. For streams with a handler. */
TOPOLOOM_STREAM_API int topoloom_stream_wait(topoloom_stream stream);
/* Returns the dimensions of the mesh, bytes of a bucket, and flush timeout in seconds of the current or next phase. */
TOPOLOOM_STREAM_API int topoloom_stream_get_settings(topoloom_stream stream, int* dimensions,
                                                     int* bucket_bytes, double* flush_timeout);
/* Returns the bytes of all buckets, now and at their peak. */
TOPOLOOM_STREAM_API int topoloom_stream_get_memory(topoloom_stream stream, long long* bytes,
                                                   long long* peak_bytes);
/* Explains the error code that a call of this thread has just returned. Empty for errors of MPI itself. Valid until the next
 * error. */
TOPOLOOM_STREAM_API const char* topoloom_stream_error(int status);

#ifdef __cplusplus
}
#endif

#endif
