// SPDX-License-Identifier: BSD-3-Clause
// Sets up the state of a communicator: a duplicate, the settings, the location of every rank, the strategy.
#ifndef TOPOLOOM_COLLECTIVE_SETUP_H
#define TOPOLOOM_COLLECTIVE_SETUP_H

#include "collective.h"

/// Allocates what begin_setup needs. False: no memory.
bool reserve_setup(struct comm_state* state);
void free_setup(struct comm_state* state);

#endif
