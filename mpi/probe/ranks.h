// SPDX-License-Identifier: BSD-3-Clause
// Where ranks are.
#ifndef TOPOLOOM_PROBE_RANKS_H
#define TOPOLOOM_PROBE_RANKS_H

/// Rank 0 writes a line for each rank: its host, the CPUs that it may use, such as `0-3,8` (`-`: unknown), and its
/// MPI. Collective; ends the program if the file cannot be written.
void write_ranks(const char* file);

#endif
