// SPDX-License-Identifier: BSD-3-Clause
// How the state of a communicator comes about: a duplicate, the user's settings, where everybody is, the strategy.
#ifndef TOPOLOOM_COLLECTIVE_SETUP_H
#define TOPOLOOM_COLLECTIVE_SETUP_H

#include "collective.h"

/// False: no memory.
bool reserve_setup(struct state* state);
/// Collective. Then advance_setup goes on with it.
int begin_setup(MPI_Comm comm, struct state* state);
void free_setup(struct state* state);

#endif
