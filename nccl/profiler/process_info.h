// SPDX-License-Identifier: BSD-3-Clause
// Host, GPU and rank of this process.
#ifndef TOPOLOOM_NCCL_PROCESS_INFO_H
#define TOPOLOOM_NCCL_PROCESS_INFO_H

/// Returns the host name. Characters that are invalid in JSON or a path are replaced by underscores.
const char* get_host_name(void);

/// Returns the GPU of the calling thread, or -1 if unknown.
int find_current_gpu(void);

/// Reads rank and size from the launcher's environment variables. Returns 0 if none are set.
int read_rank_and_size(int* rank, int* size);

#endif
