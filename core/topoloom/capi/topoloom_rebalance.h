/* SPDX-License-Identifier: BSD-3-Clause */
/* Which process should have which object of a running program: by loads and messages that were measured. No MPI in here.
 *
 * Functions that return int return 0, or 1 with one line of text in `error` (of `error_size` bytes, 256 are
 * enough). No exception leaves the library. Calls on different objects may run at the same time.
 */
#ifndef TOPOLOOM_REBALANCE_H
#define TOPOLOOM_REBALANCE_H

#include <stddef.h>
#include <stdint.h>

#include "topoloom.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(readability-identifier-naming): C */

/* What objects did: rank i of the pattern is object i. */
typedef struct {
    topoloom_pattern pattern;
    const double* seconds;      /* that it computed */
    const int64_t* moved_bytes; /* that moving it takes */
    const uint32_t* process;    /* that has it now */
    const uint8_t*
        is_proxied; /* 1: what it sends to the objects of one process goes as one message, the largest, and so
                                   does what they send to it; may be NULL: none */
} topoloom_objects;

typedef struct {
    double seconds_per_byte; /* that moving takes */
    double periods;          /* how often what was measured comes again */
    double tolerance;        /* of load above the average */
    uint64_t seed;
} topoloom_moving;

/* Of the present and of the new processes: seconds of the busiest, hop-bytes of all messages. */
typedef struct {
    int64_t moved, moved_bytes;
    double busiest_before, busiest_after, average;
    double hop_bytes_before, hop_bytes_after;
} topoloom_rebalanced;

/* Chooses process[i] for each object. `policy` is
 *   none                  all stay
 *   greedy                the heaviest first, to the least loaded process where its own has too much
 *   few-bytes             from processes above the tolerance, those with few bytes for their seconds
 *   repartition           few bytes between processes in all periods, and few that move, both times the distance
 *   diffusion, alias, ... a balancer as for `topoloom balance`, carried out by objects whose neighbors are there
 *   place                 the mapper auto: few hop-bytes, those of moving included, and loads within the tolerance
 *   bricks, ...           another mapper as for `topoloom map` that lets ranks share slots
 * All stay where the busiest process would have no less to do, or would gain less in all periods than moving takes; with
 * repartition and mappers, where there would be more hop-bytes instead, or more load beyond the tolerance. */
TOPOLOOM_API int topoloom_rebalance(const topoloom_process_map* process_map, const topoloom_objects* objects,
                                    const char* policy, const topoloom_moving* moving,
                                    uint32_t* process_of_object, topoloom_rebalanced* worth, char* error,
                                    size_t error_size);

/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif
