// SPDX-License-Identifier: BSD-3-Clause
// MPI's generalized requests, which stand for our non-blocking requests.
#ifndef TOPOLOOM_PRELOAD_GENERALIZED_REQUESTS_H
#define TOPOLOOM_PRELOAD_GENERALIZED_REQUESTS_H

#include <stdatomic.h>

#include "topoloom_collective.h"

/// The number of existing ones.
extern atomic_int generalized_requests;

/// Returns from a non-blocking wrapper: if `status` is MPI_SUCCESS, `request` becomes a generalized request that completes
/// together with ours. Returns an MPI error code.
int return_request(int status, topoloom_request* ours, MPI_Request* request);

#endif
