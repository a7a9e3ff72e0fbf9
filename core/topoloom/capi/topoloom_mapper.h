/* SPDX-License-Identifier: BSD-3-Clause */
/* A mapper of your own in C or C++, for `topoloom compare --mappers auto,./libmine.so:place`: a shared library with a
 * function of the type topoloom_mapper. It is given all that it needs, and links with nothing of Topoloom.
 */
#ifndef TOPOLOOM_MAPPER_H
#define TOPOLOOM_MAPPER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows with each addition; what is in version 1 stays where it is. */
#define TOPOLOOM_MAPPER_VERSION 1

/* What is asked. Ranks are 0 to ranks - 1; slots are named by their ids on the machine. */
typedef struct topoloom_mapper_problem {
    uint64_t version; /* of the caller: TOPOLOOM_MAPPER_VERSION or later */

    /* Who sends how much to whom: rank u sends bytes[k] in messages[k] messages to peers[k], for
     * first[u] <= k < first[u + 1]; peers ascend, and a rank sends nothing to itself. */
    size_t ranks;
    const uint64_t* first;
    const uint32_t* peers;
    const int64_t* bytes;
    const int64_t* messages;

    /* The allocated slots in the launcher's order, and the node of each. The load of the ranks on a slot must not
     * exceed its capacity; all loads and capacities are 1 where slots are not shared. */
    size_t slots;
    const uint32_t* slot;
    const uint32_t* node;
    const int64_t* capacity; /* by index of the slot, as the two before */
    const int64_t* load;     /* by rank */
    int shared;
    const char* machine; /* its short text, such as torus:4x4 */

    /* The seed, and limits that the mapper should keep by itself: infinity and UINT64_MAX where there are none. */
    uint64_t seed;
    double seconds;
    uint64_t work;

    /* The first argument of all that follows, which may only be called from the thread of the mapper. Functions that
     * return int return 0, or 1 for ranks and slots that cannot be; gains are NaN for these. */
    void* context;
    /* To be called now and then with the work done; where it returns 0, the mapper should return what it has. */
    int (*go_on)(void* context, uint64_t work);
    /* What hop-bytes multiply with; UINT32_MAX for slots that do not exist. */
    uint32_t (*distance)(void* context, uint32_t slot_a, uint32_t slot_b);

    /* Follow the objective, from a placement on: its value, and by how much a change would lower it. `start` comes
     * first, and may come again; `undo` takes back the last change, once. */
    int (*start)(void* context, const uint32_t* slot_of_rank);
    double (*value)(void* context);
    double (*gain_of_swap)(void* context, uint32_t rank_a, uint32_t rank_b);
    double (*gain_of_move)(void* context, uint32_t rank, uint32_t slot);
    int (*swap)(void* context, uint32_t rank_a, uint32_t rank_b);
    int (*move)(void* context, uint32_t rank, uint32_t slot);
    int (*undo)(void* context);
    /* The slot of every rank as it is now. */
    int (*placement)(void* context, uint32_t* slot_of_rank);
} topoloom_mapper_problem;

/* Writes the slot of every rank and returns 0; or returns 1, with one line of text in `error`. */
typedef int (*topoloom_mapper)(const topoloom_mapper_problem* problem, uint32_t* slot_of_rank, char* error,
                               size_t error_size);

#ifdef __cplusplus
}
#endif

#endif
