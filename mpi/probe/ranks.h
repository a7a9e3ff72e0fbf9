// SPDX-License-Identifier: BSD-3-Clause
// Writes the location of each rank.
#ifndef TOPOLOOM_PROBE_RANKS_H
#define TOPOLOOM_PROBE_RANKS_H

/// Writes a line per rank on rank 0: host, allowed CPUs such as `0-3,8` (`-` = unknown), and MPI version. Collective.
/// Aborts the job if the file cannot be written.
void write_ranks(const char* file);

#endif
