/* SPDX-License-Identifier: BSD-3-Clause */
/* User-defined mappers in C or C++, for `topoloom compare --mappers auto,./libmine.so:place`. A mapper is a
 * function of type topoloom_mapper in a shared library, which need not link with Topoloom.
 */
#ifndef TOPOLOOM_MAPPER_H
#define TOPOLOOM_MAPPER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Incremented whenever fields are added. Fields of version 1 keep their offsets. */
#define TOPOLOOM_MAPPER_VERSION 1

/* The problem. Ranks are 0 to ranks - 1; slots are ids of the machine. */
typedef struct topoloom_mapper_problem {
    uint64_t version; /* the caller's TOPOLOOM_MAPPER_VERSION, which may be later than the mapper's */

    /* The communication graph: rank u sends bytes[k] in messages[k] messages to peers[k], for
     * first[u] <= k < first[u + 1]. Peers ascend; no rank is its own peer. */
    size_t ranks;
    const uint64_t* first;
    const uint32_t* peers;
    const int64_t* bytes;
    const int64_t* messages;

    /* The allocated slots in launcher order, and their nodes. The loads of the ranks on a slot must not sum
     * to more than its capacity. If slots are not shared, all loads and capacities are 1. */
    size_t slots;
    const uint32_t* slot;
    const uint32_t* node;
    const int64_t* capacity; /* in the same order as slot and node */
    const int64_t* load;     /* by rank */
    int shared;
    const char* machine; /* machine text, such as torus:4x4 */

    /* The seed, and limits that the mapper should observe: infinity and UINT64_MAX mean no limit. */
    uint64_t seed;
    double seconds;
    uint64_t work;

    /* The first argument of all functions below. Call them only from the thread that runs the mapper.
     * Functions that return int return 0, or 1 for invalid ranks and slots; gains are NaN for these. */
    void* context;
    /* Call it regularly with the work done. If it returns 0, return the best placement so far. */
    int (*go_on)(void* context, uint64_t work);
    /* The distance that hop-bytes use between two slots; UINT32_MAX if a slot does not exist. */
    uint32_t (*distance)(void* context, uint32_t slot_a, uint32_t slot_b);

    /* Evaluate the objective incrementally: its value, and by how much a change would lower it. Call `start`
     * first; call it again to evaluate another placement. `undo` reverts only the last change. */
    int (*start)(void* context, const uint32_t* slot_of_rank);
    double (*value)(void* context);
    double (*gain_of_swap)(void* context, uint32_t rank_a, uint32_t rank_b);
    double (*gain_of_move)(void* context, uint32_t rank, uint32_t slot);
    int (*swap)(void* context, uint32_t rank_a, uint32_t rank_b);
    int (*move)(void* context, uint32_t rank, uint32_t slot);
    int (*undo)(void* context);
    /* Writes the current slot of each rank. */
    int (*placement)(void* context, uint32_t* slot_of_rank);
} topoloom_mapper_problem;

/* Writes the slot of each rank and returns 0, or returns 1 with one line of text in `error`. */
typedef int (*topoloom_mapper)(const topoloom_mapper_problem* problem, uint32_t* slot_of_rank, char* error,
                               size_t error_size);

#ifdef __cplusplus
}
#endif

#endif
