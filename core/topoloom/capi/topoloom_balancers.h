/* SPDX-License-Identifier: BSD-3-Clause */
/* Balancers for those who move the tasks: what one rank hands over, and is given. No MPI in here.
 *
 * Functions that return int return 0, or 1 with one line of text in `error` (of `error_size` bytes, 256 are
 * enough); then nothing that they would have made exists. No exception leaves the library. Calls on
 * different objects may run at the same time.
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

/* Of one rank; both ascending by rank, and of at least one task each. */
typedef struct {
    size_t to_count, from_count;
    const topoloom_share *to, *from;
    void* owner; /* what holds the arrays */
} topoloom_own_plan;

TOPOLOOM_API void topoloom_own_plan_free(topoloom_own_plan* plan);

typedef struct topoloom_balancer topoloom_balancer;

/* `method` is as for `topoloom balance`, such as alias(remainder=exact). `machine`, NULL or a short text, is for methods that
 * choose near ranks; rank i is at slots[i]. */
TOPOLOOM_API int topoloom_balancer_make(const char* method, const char* machine, size_t ranks,
                                        const uint32_t* slots, topoloom_balancer** balancer, char* error,
                                        size_t error_size);
TOPOLOOM_API void topoloom_balancer_free(topoloom_balancer* balancer);

/* The part of `rank` in the plan for these loads, which is the same on every rank that asks. */
TOPOLOOM_API int topoloom_balancer_own_plan(const topoloom_balancer* balancer, size_t ranks,
                                            const int64_t* loads, uint32_t rank, topoloom_own_plan* plan,
                                            char* error, size_t error_size);

/* Carries letters between ranks; functions return 0, or another number to give up. `topic` is from 0 to 15. */
typedef struct {
    void* context;
    int (*send)(void* context, uint32_t to, int topic, const int64_t* words, size_t count);
    /* From any rank where `from` is TOPOLOOM_ANY_RANK. The words stay until the next call. */
    int (*receive)(void* context, uint32_t from, int topic, const int64_t** words, size_t* count);
} topoloom_carrier;
#define TOPOLOOM_ANY_RANK UINT32_MAX

/* The same for the method sweep, but ranks decide by messages and none knows all loads: at most 2 ceil(log2 ranks) + 9 from
 * each. All ranks call it. Returns 2 where the carrier gave up. */
TOPOLOOM_API int topoloom_decide(uint32_t rank, uint32_t ranks, int64_t load, const topoloom_carrier* carrier,
                                 topoloom_own_plan* plan, char* error, size_t error_size);

/* Whether gathering all loads is the faster way, where a message takes message_s and a byte byte_s; 0: as usual. The smallest node
 * has that many ranks, at least 1. */
TOPOLOOM_API int topoloom_gathers_loads(uint32_t ranks, uint32_t nodes, uint32_t smallest_node,
                                        double message_s, double byte_s);
/* Whether loads are then gathered on boards, which the ranks of a node share, rather than from rank to rank. */
TOPOLOOM_API int topoloom_gathers_on_boards(uint32_t ranks, uint32_t nodes, uint32_t smallest_node);

/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif
