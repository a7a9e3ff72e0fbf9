// SPDX-License-Identifier: BSD-3-Clause
/// Where this process is: its host, its GPU, and its rank in the job.
#ifndef TOPOLOOM_NCCL_PLACE_H
#define TOPOLOOM_NCCL_PLACE_H

/// The name of the host, without what JSON or a path could not hold.
const char* place_host(void);

/// The GPU of the calling thread, -1 if nothing says it.
int place_device(void);

/// Find the rank that the launcher gave; return 0 if it gave none.
int place_in_job(int* rank, int* size);

#endif
