/* SPDX-License-Identifier: BSD-3-Clause */
/* Balancers for programs that move tasks: compute what one rank sends and receives. Does not use MPI.
 *
 * Functions that return int return 0, or 1 with a one-line message in `error` (error_size bytes; 256 are
 * enough). On failure nothing is created. No exception leaves the library. Calls on different objects may run
 * concurrently.
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

/* What one rank sends and receives. Both arrays are sorted by rank; each share has at least one task. */
typedef struct {
    size_t to_count, from_count;
    const topoloom_share *to, *from;
    void* owner; /* owns the arrays */
} topoloom_own_plan;

TOPOLOOM_API void topoloom_own_plan_free(topoloom_own_plan* plan);

typedef struct topoloom_balancer topoloom_balancer;

/* Creates a balancer. `method` is a method of `topoloom balance`, such as alias(remainder=exact). `machine`
 * is a machine's short text for methods that prefer near ranks, with rank i on slots[i]; NULL: no machine. */
TOPOLOOM_API int topoloom_balancer_make(const char* method, const char* machine, size_t ranks,
                                        const uint32_t* slots, topoloom_balancer** balancer, char* error,
                                        size_t error_size);
TOPOLOOM_API void topoloom_balancer_free(topoloom_balancer* balancer);

/* Computes the plan for these loads, and returns what `rank` sends and receives. Every rank computes the same
 * plan. */
TOPOLOOM_API int topoloom_balancer_own_plan(const topoloom_balancer* balancer, size_t ranks,
                                            const int64_t* loads, uint32_t rank, topoloom_own_plan* plan,
                                            char* error, size_t error_size);

/* Callbacks that send messages between ranks. They return 0, or another value on failure. `tag` is 0 to 15.
 * */
typedef struct {
    void* context;
    int (*send)(void* context, uint32_t to, int tag, const int64_t* values, size_t count);
    /* Receives from any rank if `from` is TOPOLOOM_ANY_RANK. The values stay valid until the next call. */
    int (*receive)(void* context, uint32_t from, int tag, const int64_t** values, size_t* count);
} topoloom_channel;
#define TOPOLOOM_ANY_RANK UINT32_MAX

/* Computes the plan of the method `sweep` by exchanging messages; no rank needs to know all loads. Each rank
 * sends at most 2 ceil(log2 ranks) + 9 messages. All ranks must call it. Returns 2 if the channel failed. */
TOPOLOOM_API int topoloom_decide_by_messages(uint32_t rank, uint32_t ranks, int64_t load,
                                             const topoloom_channel* channel, topoloom_own_plan* plan,
                                             char* error, size_t error_size);

/* Whether gathering all loads is faster than topoloom_decide_by_messages, if a message takes message_s
 * seconds plus byte_s seconds per byte (0: the default values). `smallest_node` is the number of ranks on the
 * node with the fewest, at least 1. */
TOPOLOOM_API int topoloom_gathers_loads(uint32_t ranks, uint32_t nodes, uint32_t smallest_node,
                                        double message_s, double byte_s);
/* Whether it is faster to gather loads in shared memory on each node first than to gather them directly from
 * rank to rank. */
TOPOLOOM_API int topoloom_gathers_by_node(uint32_t ranks, uint32_t nodes, uint32_t smallest_node);

/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif
