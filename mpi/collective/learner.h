// SPDX-License-Identifier: BSD-3-Clause
// Chooses the schedule of a call, by measured times with learn=1.
#ifndef TOPOLOOM_COLLECTIVE_LEARNER_H
#define TOPOLOOM_COLLECTIVE_LEARNER_H

#include "collective.h"

struct choice {
    enum topoloom_operation operation;
    int64_t bytes;
    bool in_rank_order;
    bool is_timed;  // the time of the call will be recorded
};
/// Chooses by the learner, or by the strategy if there is none. Under the guard of the state. False with the error.
bool choose_schedule(struct comm_state* state, const struct choice* choice, const char** schedule,
                     char* error, size_t error_size);
/// Creates the learner and all that its fences need, so that these can only fail in MPI. Otherwise a rank that runs out
/// of memory later would learn less than others. Under the guard of the state. False with the error.
bool create_learner(struct comm_state* state, char* error, size_t error_size);
void free_learner(struct comm_state* state);
/// The run whose all-reduce sums `count` values or more.
struct run* get_fence_run(const struct comm_state* state, size_t count);

#endif
