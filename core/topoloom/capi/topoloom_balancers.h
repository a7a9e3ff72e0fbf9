/* SPDX-License-Identifier: BSD-3-Clause */
/* Balancers for libraries that move tasks: what one rank sends and receives. Does not use MPI.
 *
 * Functions that return int return 0, or 1 with one line of text in `error` (of `error_size` bytes, 256 are
 * enough); in case of an error nothing is created. No exception leaves the library. Calls on different objects may
 * run at the same time.
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

/* The plan of one rank: what it sends and receives. Both ascend by rank; entries have at least one task. */
typedef struct {
    size_t to_count, from_count;
    const topoloom_share *to, *from;
    void* owner; /* of the arrays */
} topoloom_own_plan;

TOPOLOOM_API void topoloom_own_plan_free(topoloom_own_plan* plan);

typedef struct topoloom_balancer topoloom_balancer;

/* Makes a balancer. `method` is as for `topoloom balance`, such as alias(remainder=exact). `machine`, NULL or a machine text,
 * is for methods that choose near ranks; rank i is on slots[i]. */
TOPOLOOM_API int topoloom_balancer_make(const char* method, const char* machine, size_t ranks,
                                        const uint32_t* slots, topoloom_balancer** balancer, char* error,
                                        size_t error_size);
TOPOLOOM_API void topoloom_balancer_free(topoloom_balancer* balancer);

/* Computes the part of `rank` in the plan for these loads. The plan is the same on all ranks. */
TOPOLOOM_API int topoloom_balancer_own_plan(const topoloom_balancer* balancer, size_t ranks,
                                            const int64_t* loads, uint32_t rank, topoloom_own_plan* plan,
                                            char* error, size_t error_size);

/* Callbacks that carry messages between ranks. They return 0, or another number to give up. `topic` is from 0 to 15. */
typedef struct {
    void* context;
    int (*send)(void* context, uint32_t to, int topic, const int64_t* words, size_t count);
    /* From any rank if `from` is TOPOLOOM_ANY_RANK. The words are valid until the next call. */
    int (*receive)(void* context, uint32_t from, int topic, const int64_t** words, size_t* count);
} topoloom_carrier;
#define TOPOLOOM_ANY_RANK UINT32_MAX

/* Computes the plan of the method sweep by messages, without all loads on any rank. Each rank sends at most
 * 2 ceil(log2 ranks) + 9 messages. All ranks call it. Returns 2 if a callback gave up. */
TOPOLOOM_API int topoloom_decide(uint32_t rank, uint32_t ranks, int64_t load, const topoloom_carrier* carrier,
                                 topoloom_own_plan* plan, char* error, size_t error_size);

/* Whether it is faster to gather all loads. A message takes message_s and a byte byte_s seconds; 0: the default. The smallest
 * node has smallest_node ranks, at least 1. */
TOPOLOOM_API int topoloom_gathers_loads(uint32_t ranks, uint32_t nodes, uint32_t smallest_node,
                                        double message_s, double byte_s);
/* Whether loads are then gathered in memory that the ranks of a node share, instead of from rank to rank. */
TOPOLOOM_API int topoloom_gathers_on_boards(uint32_t ranks, uint32_t nodes, uint32_t smallest_node);

/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif
