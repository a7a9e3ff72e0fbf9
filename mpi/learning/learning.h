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
/// The learner's, or the strategy's where nothing is learned. Under the guard of the state. False with the reason.
bool choose_schedule(struct state* state, const struct choice* choice, const char** schedule, char* why,
                     size_t why_size);
/// A timed call has completed. Where a fence is due, it is here.
int learn_from(const struct call* call);

#endif
