// SPDX-License-Identifier: BSD-3-Clause
// MPI's generalized requests, which represent our non-blocking requests.
#ifndef TOPOLOOM_PRELOAD_GENERALIZED_REQUESTS_H
#define TOPOLOOM_PRELOAD_GENERALIZED_REQUESTS_H

#include <stdatomic.h>

#include "topoloom_collective.h"

/// Number of existing generalized requests.
extern atomic_int generalized_requests;

/// Creates the result of a non-blocking wrapper. If `status` is MPI_SUCCESS, `request` becomes a generalized request
/// that completes together with `ours`. Returns an MPI error code.
int create_generalized_request(int status, topoloom_request* ours, MPI_Request* request);

#endif
