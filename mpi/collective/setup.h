// SPDX-License-Identifier: BSD-3-Clause
// Sets up the state of a communicator: its duplicate, settings, locations of ranks, and strategy.
#ifndef TOPOLOOM_COLLECTIVE_SETUP_H
#define TOPOLOOM_COLLECTIVE_SETUP_H

#include "collective.h"

/// Allocates the memory for begin_setup. Returns false if memory is exhausted.
bool reserve_setup(struct comm_state* state);
void free_setup(struct comm_state* state);

#endif
