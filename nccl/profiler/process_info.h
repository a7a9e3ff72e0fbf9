// SPDX-License-Identifier: BSD-3-Clause
// Host, GPU and rank of this process.
#ifndef TOPOLOOM_NCCL_PROCESS_INFO_H
#define TOPOLOOM_NCCL_PROCESS_INFO_H

/// With characters that JSON or a path cannot hold replaced by underscores.
const char* get_host_name(void);

/// The GPU of the calling thread; -1 = unknown.
int find_device(void);

/// By the launcher's environment variables; 0 = none are set.
int find_job_rank(int* rank, int* size);

#endif
