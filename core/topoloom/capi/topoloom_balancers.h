/* SPDX-License-Identifier: BSD-3-Clause */
/* Balancers for programs that move tasks: the part of one rank in a redistribution. Free of MPI.
 *
 * Functions that return int return 0, or 1 with a one-line message in `error` (error_size bytes; 256 are enough). On failure
 * nothing is created. No exception leaves the library. Calls on different objects may run concurrently.
 */
#ifndef TOPOLOOM_BALANCERS_H
#define TOPOLOOM_BALANCERS_H

#include <stddef.h>
#include <stdint.h>

#include "topoloom.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(readability-identifier-naming): C */

typedef struct {
    uint32_t rank;
    int64_t tasks;
} topoloom_share;

/* What one rank sends and receives. Both arrays ascend by rank; each share has at least one task. */
typedef struct {
    size_t to_count, from_count;
    const topoloom_share *to, *from;
    void* owner; /* owns the arrays */
} topoloom_own_plan;

TOPOLOOM_API void topoloom_own_plan_free(topoloom_own_plan* plan);

typedef struct topoloom_balancer topoloom_balancer;

/* Creates a balancer. `method` is one of `topoloom balance`, such as alias(remainder=exact). `machine` (may be NULL) is a short
 * text for methods that prefer near ranks; rank i is on slots[i]. */
TOPOLOOM_API int topoloom_balancer_make(const char* method, const char* machine, size_t ranks,
                                        const uint32_t* slots, topoloom_balancer** balancer, char* error,
                                        size_t error_size);
TOPOLOOM_API void topoloom_balancer_free(topoloom_balancer* balancer);

/* Computes the part of `rank` in the plan for these loads. The plan is the same on every rank that computes it. */
TOPOLOOM_API int topoloom_balancer_own_plan(const topoloom_balancer* balancer, size_t ranks,
                                            const int64_t* loads, uint32_t rank, topoloom_own_plan* plan,
                                            char* error, size_t error_size);

/* Sends messages between ranks. Functions return 0, or another value on failure. `tag` is 0 to 15. */
typedef struct {
    void* context;
    int (*send)(void* context, uint32_t to, int tag, const int64_t* values, size_t count);
    /* Receives from any rank if `from` is TOPOLOOM_ANY_RANK. The values stay valid until the next call. */
    int (*receive)(void* context, uint32_t from, int tag, const int64_t** values, size_t* count);
} topoloom_channel;
#define TOPOLOOM_ANY_RANK UINT32_MAX

/* Computes the plan of the method sweep by messages, without any rank knowing all loads. Each rank sends at most
 * 2 ceil(log2 ranks) + 9 messages. All ranks call it. Returns 2 if the channel failed. */
TOPOLOOM_API int topoloom_decide_by_messages(uint32_t rank, uint32_t ranks, int64_t load,
                                             const topoloom_channel* channel, topoloom_own_plan* plan,
                                             char* error, size_t error_size);

/* Whether gathering all loads is faster than topoloom_decide_by_messages, with message_s seconds per message and byte_s per byte (0: the
 * default). The smallest node has smallest_node >= 1 ranks. */
TOPOLOOM_API int topoloom_gathers_loads(uint32_t ranks, uint32_t nodes, uint32_t smallest_node,
                                        double message_s, double byte_s);
/* Whether gathering through memory shared by the ranks of each node is faster than from rank to rank. */
TOPOLOOM_API int topoloom_gathers_by_node(uint32_t ranks, uint32_t nodes, uint32_t smallest_node);

/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif
