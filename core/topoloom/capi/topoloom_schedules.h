/* SPDX-License-Identifier: BSD-3-Clause */
/* Schedules for those who move the data: which one a collective takes, and what one rank then does. No MPI in here.
 *
 * Functions that return int return 0, or 1 with one line of text in `error` (of `error_size` bytes, 256 are
 * enough); then nothing that they would have made exists. No exception leaves the library. Calls on
 * different objects may run at the same time.
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

/* What the caller gives, where it wants the result (of a broadcast both are the output), and what the program needs
 * besides. */
enum topoloom_memory { TOPOLOOM_INPUT, TOPOLOOM_OUTPUT, TOPOLOOM_SCRATCH };

/* Offsets and lengths count units: elements of a reduction, bytes of anything else. */
typedef struct {
    uint8_t memory;
    int64_t offset;
} topoloom_place;

/* A copy; or what is at `to` becomes (what is at `from`) op (what is at `to`), in this order of operands. */
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

/* In this order: the copies `before`, then all messages start, then the copies `meanwhile`, which touch nothing that
 * messages do; when all messages have completed, the work `after`. */
typedef struct {
    topoloom_slice before, receives, sends, meanwhile, after;
} topoloom_round;

/* Nothing is written to the input. Messages between two ranks match in the order in which they start. */
typedef struct {
    size_t round_count;
    const topoloom_round* rounds;
    const topoloom_work* works;
    const topoloom_message* messages;
    size_t message_count;
    int64_t scratch_units;
    void* owner; /* what holds the arrays */
} topoloom_program;

/* A collective as one rank sees it. Blocks lie as MPI lays out its buffers, one after another, unless counts and
 * offsets, in units, say where that of rank r is: of the input where this rank has one for every rank, of the output
 * where it gets one of every rank, else one entry. NULL: blocks are equal. */
typedef struct {
    enum topoloom_operation operation;
    size_t ranks;
    uint32_t rank, root;
    int64_t units; /* of the whole vector, of a rank's block, or of a pair's */
    uint64_t unit_bytes;
    const int64_t *input_units, *input_offsets;
    const int64_t *output_units, *output_offsets;
    int in_place;      /* what would be in the input is in the output */
    int wants_result;  /* 0: on this rank of an all-reduce nobody reads the output */
    int in_rank_order; /* the operator is not commutative */
} topoloom_call;

/* What the rank does by a schedule such as `bruck` or `chain(segment=4096)`. */
TOPOLOOM_API int topoloom_program_make(const topoloom_call* call, const char* schedule,
                                       topoloom_program* program, char* error, size_t error_size);

TOPOLOOM_API void topoloom_program_free(topoloom_program* program);

/* Chooses the schedules of one communicator. */
typedef struct topoloom_strategy topoloom_strategy;

/* What it chooses by; texts are empty or NULL where they are not given.
 *   machine    a machine file: lines `machine TEXT`, `node NUMBER HOST`, and what messages cost, in seconds:
 *              `message MOST ALPHA BETA` for those of up to MOST bytes (- : any), `cost latency 637e-9`
 *   placement  JSON, as `topoloom map` writes it
 *   decisions  JSON, as `topoloom collective --decisions` writes it
 *   schedule   one schedule for all operations that it does
 *   locations  by rank: the number of its node in the machine, its rank in the placement, or without either a
 *              number that only the ranks of its node have. NULL: every rank is on a node of its own */
typedef struct {
    size_t ranks;
    const char *machine, *placement, *decisions, *schedule;
    const int64_t* locations;
} topoloom_setting;

TOPOLOOM_API int topoloom_strategy_make(const topoloom_setting* setting, topoloom_strategy** strategy,
                                        char* error, size_t error_size);

/* The strategy of several calls at once, which share the machine: each is among as many ranks, the first among ranks[0],
 * ranks[1] and so on. All ranks of `whole` are listed, each once; decisions, schedules and the like are those of a call. */
TOPOLOOM_API int topoloom_strategy_at_once(const topoloom_strategy* whole, size_t calls,
                                           const uint32_t* ranks, topoloom_strategy** strategy, char* error,
                                           size_t error_size);

/* Of each rank a number that only the ranks of its node have. */
TOPOLOOM_API void topoloom_strategy_nodes(const topoloom_strategy* strategy, int64_t* node);

/* Depends on these values and the setting alone. `bytes` as `units` of a call, but in bytes. The text lives as long as
 * the strategy, and is one object for each text. */
TOPOLOOM_API int topoloom_strategy_choose(topoloom_strategy* strategy, enum topoloom_operation operation,
                                          int64_t bytes, int in_rank_order, const char** schedule,
                                          char* error, size_t error_size);

/* Whether a call gains by that schedule: where the setting names it, and else where it is faster than what an MPI library
 * does by more than running it costs, and by `round_delay` seconds for each of its rounds. Depends on the same. */
TOPOLOOM_API int topoloom_strategy_helps(topoloom_strategy* strategy, enum topoloom_operation operation,
                                         int64_t bytes, int in_rank_order, double round_delay, int* helps,
                                         char* error, size_t error_size);

/* Whether any call may: not where all ranks are on one node and the setting names no schedule. */
TOPOLOOM_API int topoloom_strategy_may_help(const topoloom_strategy* strategy);

/* One line about it; lives as long as the strategy. */
TOPOLOOM_API const char* topoloom_strategy_about(const topoloom_strategy* strategy);

TOPOLOOM_API void topoloom_strategy_free(topoloom_strategy* strategy);

/* Learns the schedules of one communicator from how long its calls take; each rank has one. All must make the same timed
 * calls in the same order, and learn from the same sums at the same call: then they choose the same, whatever the clock
 * of a rank says. What is measured counts before decision tables, but not before the setting's schedule. Not for several
 * threads at once. */
typedef struct topoloom_learner topoloom_learner;

/* Has its own share of the strategy, which may be freed. */
TOPOLOOM_API int topoloom_learner_make(topoloom_strategy* strategy, topoloom_learner** learner, char* error,
                                       size_t error_size);

/* As topoloom_strategy_choose. Timed: topoloom_learner_saw follows before the next call, and this one may have to
 * try another schedule than the fastest that is known. */
TOPOLOOM_API int topoloom_learner_choose(topoloom_learner* learner, enum topoloom_operation operation,
                                         int64_t bytes, int in_rank_order, int is_timed,
                                         const char** schedule, char* error, size_t error_size);

/* What a timed call took, in seconds; what can be no time is left out. 1: a fence is due before the next call, in which all
 * ranks add up what they have seen, and learn from the sums. There may be more fences at any time. */
TOPOLOOM_API int topoloom_learner_saw(topoloom_learner* learner, double seconds);

/* Since the last fence: how many numbers they are, the same on every rank. Like topoloom_learner_saw and _learn it needs no
 * memory: a rank that has none left still learns what the others do. */
enum { TOPOLOOM_MOST_SEEN = 1024 };
TOPOLOOM_API size_t topoloom_learner_seen(const topoloom_learner* learner, int64_t* numbers);

/* Fails only for another number of sums. */
TOPOLOOM_API int topoloom_learner_learn(topoloom_learner* learner, const int64_t* sums, size_t count,
                                        char* error, size_t error_size);

TOPOLOOM_API void topoloom_learner_free(topoloom_learner* learner);

/* Reads the name of an operation, MPI's or as in `topoloom collective`. */
TOPOLOOM_API int topoloom_operation_named(const char* name, enum topoloom_operation* operation, char* error,
                                          size_t error_size);

/* How messages of a many-to-many travel: straight to their ranks, or combined along the axes of a virtual mesh of two axes, a
 * grid of three, or a hypercube. */
enum topoloom_combining { TOPOLOOM_DIRECT, TOPOLOOM_MESH, TOPOLOOM_GRID, TOPOLOOM_HYPERCUBE };

/* Seconds of a many-to-many of `bytes` to each of `degree` ranks, with alpha seconds for a message and beta for a byte: an
 * all-to-all where these are all other ranks. Equations 3.1 to 3.20 of S. Kumar, Optimizing Communication for Massively
 * Parallel Processing, 2005. */
TOPOLOOM_API int topoloom_many_to_many_time(enum topoloom_combining strategy, uint64_t ranks, double degree,
                                            double bytes, double alpha, double beta, double* seconds,
                                            char* error, size_t error_size);

/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif
