// SPDX-License-Identifier: BSD-3-Clause
// What calls take decides what later ones do, on all ranks alike.
#ifndef TOPOLOOM_COLLECTIVE_LEARNING_H
#define TOPOLOOM_COLLECTIVE_LEARNING_H

#include "collective.h"

struct choice {
    enum topoloom_operation operation;
    int64_t bytes;
    int in_rank_order;
    bool is_timed;  // learn_from will be called
};
/// Makes the learner, and all that its fences need. Under the guard of the state; false with the reason. What is there then
/// can only fail in MPI itself: a rank that runs out of memory later learns what the others do.
bool make_learning(struct state* state, char* why, size_t why_size);
void free_learning(struct state* state);
/// The learner's, or the strategy's where nothing is learned. Under the guard of the state. False with the reason.
bool choose_schedule(struct state* state, const struct choice* choice, const char** schedule, char* why,
                     size_t why_size);
/// Before a call is timed. What it tries is one more to choose from: calls that were started before choose first, on all
/// ranks alike.
void before_trying(const struct call* call);
/// A timed call has completed. Where a fence is due, it is here.
int learn_from(const struct call* call);
/// This rank may know less than others: rather than take another schedule, it fails all calls from now on.
void stop_learning(struct state* state, int error);

#endif
