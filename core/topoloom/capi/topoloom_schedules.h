/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses schedules for collectives and compiles them for one rank. Does not use MPI.
 *
 * Functions that return int return 0, or 1 with a one-line message in `error` (error_size bytes; 256 are
 * enough). On failure nothing is created. No exception leaves the library. Calls on different objects may run
 * concurrently.
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
    TOPOLOOM_BCAST,
    TOPOLOOM_REDUCE,
    TOPOLOOM_SCATTER,
    TOPOLOOM_GATHER,
    TOPOLOOM_ALLGATHER,
    TOPOLOOM_ALLREDUCE,
    TOPOLOOM_REDUCE_SCATTER,
    TOPOLOOM_ALLTOALL,
    TOPOLOOM_BARRIER,
    TOPOLOOM_MANY_TO_MANY,
    TOPOLOOM_MANY_TO_MANY_MULTICAST,
    TOPOLOOM_SCAN,
    TOPOLOOM_EXSCAN
};

/* The send buffer, the receive buffer (in a bcast: the only buffer), and scratch memory. */
enum topoloom_memory { TOPOLOOM_INPUT, TOPOLOOM_OUTPUT, TOPOLOOM_SCRATCH };

/* Offsets and lengths count units: elements in reductions, bytes otherwise. */
typedef struct {
    uint8_t memory;
    int64_t offset;
} topoloom_place;

/* A copy, or a reduction `to = from op to`, with the operands in this order. */
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

/* One round: performs the copies `before`; starts all messages; performs the copies `meanwhile`, which do not
 * touch message buffers; waits for all messages; performs the work `after`. */
typedef struct {
    topoloom_slice before, receives, sends, meanwhile, after;
} topoloom_round;

/* The program of one rank. The input is never written. Messages between two ranks match in start order. */
typedef struct {
    size_t round_count;
    const topoloom_round* rounds;
    const topoloom_work* works;
    const topoloom_message* messages;
    size_t message_count;
    int64_t scratch_units;
    void* owner; /* owns the arrays */
} topoloom_program;

/* The arguments of a collective on one rank. Blocks are contiguous and of equal size, unless counts and
 * offsets (in units) are passed as in MPI; NULL: equal blocks. Pass one entry per rank for a buffer with a
 * block of each rank, else a single entry. */
typedef struct {
    enum topoloom_operation operation;
    size_t ranks;
    uint32_t rank, root;
    int64_t units; /* units of the whole vector, of a rank's block, or of a block per pair of ranks */
    uint64_t unit_bytes;
    const int64_t *input_units, *input_offsets;
    const int64_t *output_units, *output_offsets;
    int in_place;      /* 1: in place (the input is in the output buffer) */
    int wants_result;  /* 0: this rank does not need the result of the allreduce */
    int in_rank_order; /* 1: the operator is not commutative */
} topoloom_call;

/* Compiles a schedule such as `bruck` or `chain(segment=4096)` for the call's rank. */
TOPOLOOM_API int topoloom_program_make(const topoloom_call* call, const char* schedule,
                                       topoloom_program* program, char* error, size_t error_size);

TOPOLOOM_API void topoloom_program_free(topoloom_program* program);

/* Chooses the schedules of one communicator. */
typedef struct topoloom_strategy topoloom_strategy;

/* The input of a strategy. Unspecified texts are empty or NULL.
 *   machine: a machine file with the lines `machine TEXT`, `node NUMBER HOST`, and message costs in seconds:
 *              `message MOST ALPHA BETA` for messages of up to MOST bytes (-: any), `cost latency 637e-9`.
 *   placement: JSON, as written by `topoloom map`.
 *   decisions: JSON, as written by `topoloom collective rank --decisions`.
 *   schedule: one schedule for all operations that it supports.
 *   locations: by rank, its node number in the machine, its rank in the placement, or without both any number
 *              shared only by the ranks of its node. NULL: every rank is on a separate node */
typedef struct {
    size_t ranks;
    const char *machine, *placement, *decisions, *schedule;
    const int64_t* locations;
} topoloom_setting;

TOPOLOOM_API int topoloom_strategy_make(const topoloom_setting* setting, topoloom_strategy** strategy,
                                        char* error, size_t error_size);

/* Creates the strategy for concurrent calls that share the machine. `ranks` lists each rank of `whole` once,
 * call by call; all calls have the same number of ranks. The strategy then chooses for one of these calls. */
TOPOLOOM_API int topoloom_strategy_for_concurrent_calls(const topoloom_strategy* whole, size_t calls,
                                                        const uint32_t* ranks, topoloom_strategy** strategy,
                                                        char* error, size_t error_size);

/* Writes a node number for each rank; equal numbers mean the same node. */
TOPOLOOM_API void topoloom_strategy_nodes(const topoloom_strategy* strategy, int64_t* node);

/* Chooses a schedule; depends only on the arguments and the setting. `bytes` is the `units` of a call, in
 * bytes. The text lives as long as the strategy; equal texts are the same pointer. */
TOPOLOOM_API int topoloom_strategy_choose(topoloom_strategy* strategy, enum topoloom_operation operation,
                                          int64_t bytes, int in_rank_order, const char** schedule,
                                          char* error, size_t error_size);

/* Sets `helps` to whether the chosen schedule saves time: the setting names it, or it is faster than the
 * schedule of an MPI library by more than its overhead, which includes `round_delay` seconds per round.
 * Depends only on the arguments and the setting. */
TOPOLOOM_API int topoloom_strategy_saves_time(topoloom_strategy* strategy, enum topoloom_operation operation,
                                              int64_t bytes, int in_rank_order, double round_delay,
                                              int* helps, char* error, size_t error_size);

/* Predicts the time in seconds of the chosen schedule, and of the schedule of an MPI library. Both are negative
 * if they are unknown: if all ranks are on one node, or for operations that cannot be compared. */
TOPOLOOM_API int topoloom_strategy_predict(topoloom_strategy* strategy, enum topoloom_operation operation,
                                           int64_t bytes, int in_rank_order, double* ours, double* usual,
                                           char* error, size_t error_size);

/* Whether any call can save time; 0 if all ranks are on one node and the setting names no schedule. */
TOPOLOOM_API int topoloom_strategy_can_save_time(const topoloom_strategy* strategy);

/* A one-line description of the strategy; lives as long as the strategy. */
TOPOLOOM_API const char* topoloom_strategy_description(const topoloom_strategy* strategy);

TOPOLOOM_API void topoloom_strategy_free(topoloom_strategy* strategy);

/* Learns the schedules of one communicator from the times of its calls; one learner per rank. All ranks must
 * make the same timed calls in the same order, and learn from the same sums at the same call. Then all ranks
 * make the same choices, even if their clocks differ. Measured times override decision tables, but not a
 * schedule that the setting names. Not thread-safe. */
typedef struct topoloom_learner topoloom_learner;

/* Creates a learner. It keeps the strategy alive, so the caller may free its strategy handle. */
TOPOLOOM_API int topoloom_learner_make(topoloom_strategy* strategy, topoloom_learner** learner, char* error,
                                       size_t error_size);

/* Chooses like topoloom_strategy_choose. For a timed call, it may try a schedule other than the fastest known
 * one, and topoloom_learner_record_time must follow before the next call. */
TOPOLOOM_API int topoloom_learner_choose(topoloom_learner* learner, enum topoloom_operation operation,
                                         int64_t bytes, int in_rank_order, int is_timed,
                                         const char** schedule, char* error, size_t error_size);

/* Records the time of a timed call in seconds; ignores invalid times. Returns 1 if a fence is due before the
 * next call: all ranks sum up their observations and learn from the sums. Fences are allowed at any time. */
TOPOLOOM_API int topoloom_learner_record_time(topoloom_learner* learner, double seconds);

/* Writes the observations since the last fence and returns how many numbers were written: equally many on all
 * ranks. Like topoloom_learner_record_time and topoloom_learner_learn, it allocates no memory, so that a rank
 * without memory still learns like the others. */
enum { TOPOLOOM_MAX_OBSERVATIONS = 1024 };
TOPOLOOM_API size_t topoloom_learner_observations(const topoloom_learner* learner, int64_t* numbers);

/* Learns from the sums over all ranks. Fails only if the number of sums is wrong. */
TOPOLOOM_API int topoloom_learner_learn(topoloom_learner* learner, const int64_t* sums, size_t count,
                                        char* error, size_t error_size);

TOPOLOOM_API void topoloom_learner_free(topoloom_learner* learner);

/* Parses the name of an operation as written in MPI or in `topoloom collective`. */
TOPOLOOM_API int topoloom_parse_operation(const char* name, enum topoloom_operation* operation, char* error,
                                          size_t error_size);

/* How the messages of a many-to-many travel: directly, or combined along the axes of a virtual mesh (two
 * axes), grid (three axes) or hypercube. */
enum topoloom_combining { TOPOLOOM_DIRECT, TOPOLOOM_MESH, TOPOLOOM_GRID, TOPOLOOM_HYPERCUBE };

/* Predicts the time in seconds of a many-to-many in which each rank sends `bytes` to each of `degree` ranks.
 * A message costs alpha seconds plus beta seconds per byte. With degree = ranks - 1 it is an alltoall.
 * Source: S. Kumar, Optimizing Communication for Massively Parallel Processing, 2005, eq. 3.1 to 3.20. */
TOPOLOOM_API int topoloom_many_to_many_time(enum topoloom_combining strategy, uint64_t ranks, double degree,
                                            double bytes, double alpha, double beta, double* seconds,
                                            char* error, size_t error_size);

/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif
