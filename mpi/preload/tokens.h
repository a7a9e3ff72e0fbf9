// SPDX-License-Identifier: BSD-3-Clause
// Persistent requests of MPI that stand for ours.
#ifndef TOPOLOOM_PRELOAD_TOKENS_H
#define TOPOLOOM_PRELOAD_TOKENS_H

#include "topoloom_collective.h"

/// Where MPI has persistent collectives, and a receive in one thread ends when another sends: not so in MPICH 4.0.
#if defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5
#define HAS_TOKENS 1
#elif defined MPICH_NUMVERSION && MPICH_NUMVERSION >= 50000000
#define HAS_TOKENS 1
#else
#define HAS_TOKENS 0
#endif

/// What a persistent call returns that has `made` ours, or not: the program gets MPI's request, which starts ours and is
/// complete when ours is.
int hand_out(int made, topoloom_request* ours, MPI_Request* request);

#endif
