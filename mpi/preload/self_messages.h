// SPDX-License-Identifier: BSD-3-Clause
// Persistent receives from this process, which represent our persistent requests.
#ifndef TOPOLOOM_PRELOAD_SELF_MESSAGES_H
#define TOPOLOOM_PRELOAD_SELF_MESSAGES_H

#include "topoloom_collective.h"

/// Requires persistent collectives, and receives that complete when another thread sends, which MPICH 4.0 does not
/// support.
#if defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5
#define HAS_SELF_MESSAGES 1
#elif defined MPICH_NUMVERSION && MPICH_NUMVERSION >= 50000000
#define HAS_SELF_MESSAGES 1
#else
#define HAS_SELF_MESSAGES 0
#endif

/// Creates the result of a persistent wrapper. If `status` is MPI_SUCCESS, `request` becomes a persistent receive that
/// starts and completes together with `ours`. Returns an MPI error code.
int create_self_message_request(int status, topoloom_request* ours, MPI_Request* request);

#endif
