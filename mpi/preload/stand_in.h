// SPDX-License-Identifier: BSD-3-Clause
// Requests of MPI that stand for ours.
#ifndef TOPOLOOM_PRELOAD_STAND_IN_H
#define TOPOLOOM_PRELOAD_STAND_IN_H

#include <stdatomic.h>

#include "topoloom_collective.h"

/// Those that there are.
extern atomic_int stand_ins;

/// What a non-blocking call returns that has `started` ours, or not: the program gets MPI's request, which is complete when ours is.
int hand_over(int started, topoloom_request* ours, MPI_Request* request);

#endif
