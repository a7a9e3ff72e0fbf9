// SPDX-License-Identifier: BSD-3-Clause
// Writes where the ranks run.
#ifndef TOPOLOOM_PROBE_RANKS_H
#define TOPOLOOM_PROBE_RANKS_H

/// Rank 0 writes a line per rank: host, allowed CPUs such as `0-3,8` (`-` = unknown), and MPI version. Collective; aborts
/// the job if the file cannot be written.
void write_ranks(const char* file);

#endif
