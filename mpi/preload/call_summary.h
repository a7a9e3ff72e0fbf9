// SPDX-License-Identifier: BSD-3-Clause
#ifndef TOPOLOOM_PRELOAD_CALL_SUMMARY_H
#define TOPOLOOM_PRELOAD_CALL_SUMMARY_H

/// Prints the counts of all ranks on rank 0, if calls are counted. Collective over MPI_COMM_WORLD.
void print_call_summary(void);

#endif
