/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of small messages: items that ranks push to each other travel together in buckets.
 *
 * A stream goes through phases. In a phase ranks push items; a rank that has no more says so by topoloom_stream_done, and
 * the phase ends when all have said so and every item is delivered. Then the next may begin. Items arrive once, and in
 * the order in which a rank has pushed them to another.
 *
 * A direct stream has a bucket for each rank. Over a virtual mesh of d dimensions a rank sends only along its lines, to about
 * d P^(1/d) others, who pass items on: buckets are few and fill sooner, but an item travels up to d times, behind an
 * address of 4 bytes except along axis 0, which is the last.
 *
 * Items are delivered in push, pull, progress and wait, never in between: a rank that computes for long should call
 * topoloom_stream_progress now and then. Any of these calls takes on all streams of the process, so that handlers may push into
 * other streams. The streams of a process are for one thread at a time.
 *
 * Functions return what MPI's do, and raise errors by the error handler that the communicator had when the stream was
 * created. Two more values are not errors: TOPOLOOM_STREAM_FULL and TOPOLOOM_STREAM_STOPPED.
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
    TOPOLOOM_STREAM_FULL = -1,   /* the item is not pushed: pull first */
    TOPOLOOM_STREAM_STOPPED = -2 /* a handler took fewer items than there were; they come again */
};
/* For item_bytes: each item has a length of its own. */
enum { TOPOLOOM_STREAM_VARIABLE = 0 };
/* For dimensions: a model of the network chooses them, before each phase by what was pushed in the one before. */
enum { TOPOLOOM_STREAM_AUTO = -1 };

/* What pushing in line needs, and nobody else. */
typedef struct topoloom_stream_bucket { /* NOLINT(readability-identifier-naming): C */
    char *at, *end;                     /* of the free room in the bucket that is being filled */
} topoloom_stream_bucket;
typedef struct topoloom_stream_front { /* NOLINT(readability-identifier-naming): C */
    topoloom_stream_bucket* buckets;   /* by next hop */
    const uint32_t* hops;              /* the next hop to each rank; NULL: the rank itself */
    uint32_t ranks;                    /* that may be pushed to: none after done */
    uint32_t plain_hops;               /* below it buckets have items of one size and nothing else */
    int item_bytes;
} topoloom_stream_front;
typedef topoloom_stream_front* topoloom_stream; /* NOLINT(readability-identifier-naming): C */

/* Takes items that have come: `count` of a fixed size, one after another, or one of `count` bytes. Returns how many it
 * took: `count`, or for an item of its own length 1. If it returns fewer, or ~taken, the call that delivers returns
 * TOPOLOOM_STREAM_STOPPED, and the others are delivered later. It may push; it may not wait, pull, or free a stream.
 * Items of a fixed size are aligned for any type of that size. One of its own length lies at any address: copy it. */
typedef int topoloom_stream_handler(void* context, const void* items, int count); /* NOLINT */

typedef struct topoloom_stream_options { /* NOLINT(readability-identifier-naming): C */
    int bucket_bytes;                    /* of a message; 0: from 65,536 for up to 16 next hops to 8,192 for
                                            128 or more, and where memory_bytes is given */
    long long
        memory_bytes; /* that buckets may take, but for what handlers push; 0: about two for each next hop, and 36, or 12 of less than 16 KB */
    double timeout;   /* s that an item waits for others on a hop, where ranks call often enough; 0: 0.001 */
    int dimensions; /* of the mesh, 1 to 4; 0 or 1: direct; TOPOLOOM_STREAM_AUTO: chosen for each phase, and with
                         them bucket_bytes of items of a fixed size, and timeout, where these are 0 */
    const int* extents; /* of its axes, which hold at least all ranks; NULL: about equal ones */
    const int* order;   /* ranks along the mesh, the last axis' lines first; NULL: along nodes */
    double
        patience; /* s that a rank that is done, or whose push has no room, waits until it is an error; 0: for ever */
    double alpha, beta; /* s of a message and of a byte, by which TOPOLOOM_STREAM_AUTO chooses; 0: measured */
} topoloom_stream_options;

/* Makes a stream over a private duplicate of comm, which it may outlive. Collective; item_bytes, bucket_bytes and the mesh
 * are the same on all ranks. handler NULL: items are pulled. options NULL: the standard ones. */
TOPOLOOM_STREAM_API int topoloom_stream_create(MPI_Comm comm, int item_bytes,
                                               topoloom_stream_handler* handler, void* context,
                                               const topoloom_stream_options* options,
                                               topoloom_stream* stream);
/* Collective; between two phases. Sets the stream to NULL. After MPI_Finalize it frees memory only. */
TOPOLOOM_STREAM_API int topoloom_stream_free(topoloom_stream* stream);
/* Gives up a stream in the middle of a phase, such as after an error: nothing of it is delivered any more. Not collective:
 * ranks that wait for this one learn of it by patience only. Its communicator stays until MPI_Finalize, and so do the
 * buckets of messages that are under way. Sets the stream to NULL. Not for handlers. */
TOPOLOOM_STREAM_API int topoloom_stream_abandon(topoloom_stream* stream);

/* Pushes an item of any size that the stream has. Where items are handled it waits for room, and delivers meanwhile, but
 * within a handler it never waits; where they are pulled it may return TOPOLOOM_STREAM_FULL. */
TOPOLOOM_STREAM_API int topoloom_stream_push_bytes(topoloom_stream stream, const void* item, int bytes,
                                                   int rank);

/* The same for an item that waits nowhere: on each hop its bucket leaves at once, with what was pushed before. */
TOPOLOOM_STREAM_API int topoloom_stream_push_urgent(topoloom_stream stream, const void* item, int bytes,
                                                    int rank);

/* For an item of the stream's fixed size. */
static inline int topoloom_stream_push(topoloom_stream stream, const void* item, int rank) {
    if ((uint32_t)rank < stream->ranks) {
        const uint32_t hop = stream->hops != NULL ? stream->hops[rank] : (uint32_t)rank;
        topoloom_stream_bucket* const bucket = &stream->buckets[hop];
        if (bucket->at != bucket->end && hop < stream->plain_hops) {
            memcpy(bucket->at, item, (size_t)stream->item_bytes);
            bucket->at += stream->item_bytes;
            return MPI_SUCCESS;
        }
    }
    return topoloom_stream_push_bytes(
        stream, item, stream->item_bytes == TOPOLOOM_STREAM_VARIABLE ? -1 : stream->item_bytes, rank);
}

/* For `count` items of the fixed size, one after another, and the rank of each. `pushed`: how many are, all unless the
 * call returns something else than MPI_SUCCESS. */
TOPOLOOM_STREAM_API int topoloom_stream_push_many(topoloom_stream stream, const void* items, const int* ranks,
                                                  long long count, long long* pushed);

/* Gives the next item that has come, until the next call with this stream. NULL: there is none now. */
TOPOLOOM_STREAM_API int topoloom_stream_pull(topoloom_stream stream, const void** item, int* bytes);

/* Sends what is in buckets. Otherwise they travel when they are full, after the timeout, and when the rank has nothing else
 * to do: it is done, or its program calls progress or pull, and pushes nothing, for a hundredth of the timeout. */
TOPOLOOM_STREAM_API int topoloom_stream_flush(topoloom_stream stream);
/* This rank pushes no more in this phase, but its handler may. */
TOPOLOOM_STREAM_API int topoloom_stream_done(topoloom_stream stream);
/* Receives, delivers and sends what can be without waiting. `ended`: the phase has, on all ranks; said once. */
TOPOLOOM_STREAM_API int topoloom_stream_progress(topoloom_stream stream, int* ended);
/* Done, and progress to the end of the phase. */
TOPOLOOM_STREAM_API int topoloom_stream_wait(topoloom_stream stream);
/* The mesh, the bytes of a bucket, and the timeout in s of this phase, or of the next one. */
TOPOLOOM_STREAM_API int topoloom_stream_choice(topoloom_stream stream, int* dimensions, int* bucket_bytes,
                                               double* timeout);
/* What buckets take, and the most that they ever took. */
TOPOLOOM_STREAM_API int topoloom_stream_memory(topoloom_stream stream, long long* bytes, long long* most);
/* Why a call of this thread has just returned this error; empty where the error is MPI's own. Valid until the next error. */
TOPOLOOM_STREAM_API const char* topoloom_stream_error(int status);

#ifdef __cplusplus
}
#endif

#endif
