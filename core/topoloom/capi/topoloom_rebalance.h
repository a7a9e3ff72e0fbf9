/* SPDX-License-Identifier: BSD-3-Clause */
/* Rebalancing: chooses the process of each object of a running program from measured loads and messages. Does
 * not use MPI.
 *
 * Functions that return int return 0, or 1 with a one-line message in `error` (error_size bytes; 256 are
 * enough). No exception leaves the library. Calls on different objects may run concurrently.
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

/* Measurements of objects. Object i is rank i of the pattern. */
typedef struct {
    topoloom_pattern pattern;
    const double* seconds;      /* computing time */
    const int64_t* moved_bytes; /* bytes to migrate the object */
    const uint32_t* process;    /* current process of the object */
    /* 1: the object's messages to and from all objects of a process are sent as one, as large as the largest.
     * NULL: all 0. */
    const uint8_t* is_proxied;
} topoloom_objects;

typedef struct {
    double seconds_per_byte; /* of migration */
    double periods;          /* expected repetitions of the measured period */
    double tolerance;        /* allowed load above the average, as a fraction */
    uint64_t seed;
} topoloom_rebalance_options;

/* Seconds of the busiest process, and hop-bytes of all messages, before and after objects move. */
typedef struct {
    int64_t moved, moved_bytes;
    double busiest_before, busiest_after, average;
    double hop_bytes_before, hop_bytes_after;
} topoloom_rebalance_result;

/* Chooses a process for each object. `policy` is
 *   none: keeps all objects in place.
 *   greedy: moves objects from overloaded processes to the least loaded process, heaviest objects first.
 * few-bytes: moves objects away from processes above the tolerance, those with the fewest bytes per second of
 * load first.
 *   repartition: minimizes the hop-bytes of messages in all periods plus the hop-bytes of moved objects.
 *   diffusion, alias, ...: a balancer of `topoloom balance`; prefers objects with neighbors on the receiver.
 *   place: the mapper auto; minimizes hop-bytes, including migration cost, within the tolerance.
 *   bricks, ...: another mapper of `topoloom map` that lets ranks share slots.
 * No object moves unless this lowers the load of the busiest process and, over all periods, saves more time
 * than the migration takes. With repartition and mappers, no object moves if hop-bytes, or the load beyond
 * the tolerance, would rise. */
TOPOLOOM_API int topoloom_rebalance(const topoloom_process_map* process_map, const topoloom_objects* objects,
                                    const char* policy, const topoloom_rebalance_options* options,
                                    uint32_t* process_of_object, topoloom_rebalance_result* result,
                                    char* error, size_t error_size);

/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif
