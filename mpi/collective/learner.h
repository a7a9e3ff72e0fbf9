// SPDX-License-Identifier: BSD-3-Clause
// Chooses the schedule of a call; with learn=1, by measured times.
#ifndef TOPOLOOM_COLLECTIVE_LEARNER_H
#define TOPOLOOM_COLLECTIVE_LEARNER_H

#include "collective.h"

struct schedule_query {
    enum topoloom_operation operation;
    int64_t bytes;
    bool in_rank_order;
    bool is_timed;  // whether the time of the call will be measured
};
/// Chooses with the learner or, if there is none, with the strategy. Caller holds the state's mutex. Returns
/// false, and writes `error`, on failure.
bool choose_schedule(struct comm_state* state, const struct schedule_query* schedule_query,
                     const char** schedule, char* error, size_t error_size);
/// Creates the learner, and allocates all memory for fences. If memory ran out later on one rank, ranks would choose
/// different schedules. Caller holds the state's mutex. Returns false, and writes `error`, on failure.
bool create_learner(struct comm_state* state, char* error, size_t error_size);
void free_learner(struct comm_state* state);
/// Returns the run whose allreduce sums at least `count` values.
struct run* get_fence_run(const struct comm_state* state, size_t count);

#endif
