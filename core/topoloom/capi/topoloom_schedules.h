/* SPDX-License-Identifier: BSD-3-Clause */
/* Schedules for libraries that move data: choose one for a collective, and compile it for a rank. Does not use MPI.
 *
 * Functions that return int return 0, or 1 with one line of text in `error` (of `error_size` bytes, 256 are
 * enough); in case of an error nothing is created. No exception leaves the library. Calls on different objects may
 * run at the same time.
 */
#ifndef TOPOLOOM_SCHEDULES_H
#define TOPOLOOM_SCHEDULES_H

#include <stddef.h>
#include <stdint.h>

#include "topoloom.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(readability-identifier-naming): C */

enum topoloom_operation {
    TOPOLOOM_BROADCAST,
    TOPOLOOM_REDUCE,
    TOPOLOOM_SCATTER,
    TOPOLOOM_GATHER,
    TOPOLOOM_ALL_GATHER,
    TOPOLOOM_ALL_REDUCE,
    TOPOLOOM_REDUCE_SCATTER,
    TOPOLOOM_ALL_TO_ALL,
    TOPOLOOM_BARRIER,
    TOPOLOOM_MANY_TO_MANY,
    TOPOLOOM_MANY_TO_MANY_MULTICAST,
    TOPOLOOM_SCAN,
    TOPOLOOM_EXSCAN
};

/* The send buffer, the receive buffer (of a broadcast: its only buffer), and scratch memory. */
enum topoloom_memory { TOPOLOOM_INPUT, TOPOLOOM_OUTPUT, TOPOLOOM_SCRATCH };

/* Offsets and lengths count units: elements in reductions, bytes otherwise. */
typedef struct {
    uint8_t memory;
    int64_t offset;
} topoloom_place;

/* A copy, or a reduction to = from op to, with the operands in this order. */
typedef struct {
    uint8_t combines;
    topoloom_place from, to;
    int64_t units;
} topoloom_work;

typedef struct {
    uint32_t peer;
    topoloom_place at;
    int64_t units;
} topoloom_message;

typedef struct {
    uint32_t begin, end;
} topoloom_slice;

/* A round makes the copies `before`, starts all messages, makes the copies `meanwhile`, which access no memory of
 * messages, completes all messages, and does the work `after`. */
typedef struct {
    topoloom_slice before, receives, sends, meanwhile, after;
} topoloom_round;

/* The input is not written. Messages between two ranks match in the order in which they start. */
typedef struct {
    size_t round_count;
    const topoloom_round* rounds;
    const topoloom_work* works;
    const topoloom_message* messages;
    size_t message_count;
    int64_t scratch_units;
    void* owner; /* of the arrays */
} topoloom_program;

/* The arguments of a collective on one rank. Blocks are contiguous and equal, as in MPI, unless counts and offsets in units
 * are given: one per rank for a buffer with a block of each rank, else one entry. NULL: blocks are equal. */
typedef struct {
    enum topoloom_operation operation;
    size_t ranks;
    uint32_t rank, root;
    int64_t units; /* of the whole vector, of a rank's block, or of a pair's */
    uint64_t unit_bytes;
    const int64_t *input_units, *input_offsets;
    const int64_t *output_units, *output_offsets;
    int in_place;      /* the input is in the output buffer */
    int wants_result;  /* 0: this rank of an all-reduce does not read the output */
    int in_rank_order; /* the operator is not commutative */
} topoloom_call;

/* Compiles a schedule such as `bruck` or `chain(segment=4096)` for the rank of the call. */
TOPOLOOM_API int topoloom_program_make(const topoloom_call* call, const char* schedule,
                                       topoloom_program* program, char* error, size_t error_size);

TOPOLOOM_API void topoloom_program_free(topoloom_program* program);

/* Chooses the schedules of one communicator. */
typedef struct topoloom_strategy topoloom_strategy;

/* The input of a strategy. Texts that are not given are empty or NULL.
 *   machine    a machine file: lines `machine TEXT`, `node NUMBER HOST`, and what messages cost, in seconds:
 *              `message MOST ALPHA BETA` for those of up to MOST bytes (- : any), `cost latency 637e-9`
 *   placement  JSON, as `topoloom map` writes it
 *   decisions  JSON, as `topoloom collective --decisions` writes it
 *   schedule   one schedule for all operations that it supports
 *   locations  by rank: the number of its node in the machine, its rank in the placement, or without either a
 *              number that only the ranks of its node have. NULL: every rank is on a node of its own */
typedef struct {
    size_t ranks;
    const char *machine, *placement, *decisions, *schedule;
    const int64_t* locations;
} topoloom_setting;

TOPOLOOM_API int topoloom_strategy_make(const topoloom_setting* setting, topoloom_strategy** strategy,
                                        char* error, size_t error_size);

/* Makes the strategy of concurrent calls that share the machine. Calls have equally many ranks, listed one call after the
 * other; each rank of `whole` is listed once. The strategy then chooses for one of these calls. */
TOPOLOOM_API int topoloom_strategy_at_once(const topoloom_strategy* whole, size_t calls,
                                           const uint32_t* ranks, topoloom_strategy** strategy, char* error,
                                           size_t error_size);

/* By rank, a number that only the ranks of its node have. */
TOPOLOOM_API void topoloom_strategy_nodes(const topoloom_strategy* strategy, int64_t* node);

/* Chooses a schedule, by these values and the setting only. `bytes` are the `units` of a call, in bytes. The text lives as
 * long as the strategy; equal texts are one object. */
TOPOLOOM_API int topoloom_strategy_choose(topoloom_strategy* strategy, enum topoloom_operation operation,
                                          int64_t bytes, int in_rank_order, const char** schedule,
                                          char* error, size_t error_size);

/* Whether that schedule saves time: the setting names it, or it is faster than the schedule of an MPI library by more than
 * its overhead, which includes `round_delay` seconds per round. Depends on the same values only. */
TOPOLOOM_API int topoloom_strategy_saves_time(topoloom_strategy* strategy, enum topoloom_operation operation,
                                              int64_t bytes, int in_rank_order, double round_delay,
                                              int* helps, char* error, size_t error_size);

/* Whether any call can save time: not if all ranks are on one node and the setting names no schedule. */
TOPOLOOM_API int topoloom_strategy_can_save_time(const topoloom_strategy* strategy);

/* A description in one line; lives as long as the strategy. */
TOPOLOOM_API const char* topoloom_strategy_description(const topoloom_strategy* strategy);

TOPOLOOM_API void topoloom_strategy_free(topoloom_strategy* strategy);

/* Learns the schedules of one communicator from the times of its calls. Each rank has a learner. All ranks must make the same
 * timed calls in the same order, and learn from the same sums at the same call; then they make the same choices, whatever
 * their clocks say. Measured times override decision tables, but not the schedule of the setting. Not thread-safe. */
typedef struct topoloom_learner topoloom_learner;

/* Keeps the strategy alive, so the handle may be freed. */
TOPOLOOM_API int topoloom_learner_make(topoloom_strategy* strategy, topoloom_learner** learner, char* error,
                                       size_t error_size);

/* Chooses like topoloom_strategy_choose. A timed call must be followed by topoloom_learner_record_time before the next call, and may
 * try a schedule other than the fastest known one. */
TOPOLOOM_API int topoloom_learner_choose(topoloom_learner* learner, enum topoloom_operation operation,
                                         int64_t bytes, int in_rank_order, int is_timed,
                                         const char** schedule, char* error, size_t error_size);

/* Records the seconds of a timed call; invalid times are ignored. Returns 1 if a fence is due before the next call: all ranks
 * sum up their observations and learn from the sums. Further fences are allowed at any time. */
TOPOLOOM_API int topoloom_learner_record_time(topoloom_learner* learner, double seconds);

/* Writes the observations since the last fence and returns how many numbers they are, the same on all ranks. Like
 * topoloom_learner_record_time and _learn it allocates no memory: a rank without memory still learns what the others do. */
enum { TOPOLOOM_MAX_OBSERVATIONS = 1024 };
TOPOLOOM_API size_t topoloom_learner_observations(const topoloom_learner* learner, int64_t* numbers);

/* Learns from the sums of all ranks. Fails only for a wrong number of sums. */
TOPOLOOM_API int topoloom_learner_learn(topoloom_learner* learner, const int64_t* sums, size_t count,
                                        char* error, size_t error_size);

TOPOLOOM_API void topoloom_learner_free(topoloom_learner* learner);

/* Parses the name of an operation, as in MPI or `topoloom collective`. */
TOPOLOOM_API int topoloom_parse_operation(const char* name, enum topoloom_operation* operation, char* error,
                                          size_t error_size);

/* How messages of a many-to-many travel: directly, or combined along the axes of a virtual mesh of two axes, a grid of three,
 * or a hypercube. */
enum topoloom_combining { TOPOLOOM_DIRECT, TOPOLOOM_MESH, TOPOLOOM_GRID, TOPOLOOM_HYPERCUBE };

/* Predicts the seconds of a many-to-many of `bytes` to each of `degree` ranks, with alpha seconds per message and beta per
 * byte. It is an all-to-all if these are all other ranks. Source: S. Kumar, Optimizing Communication for Massively Parallel
 * Processing, 2005, eq. 3.1 to 3.20. */
TOPOLOOM_API int topoloom_many_to_many_time(enum topoloom_combining strategy, uint64_t ranks, double degree,
                                            double bytes, double alpha, double beta, double* seconds,
                                            char* error, size_t error_size);

/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif
