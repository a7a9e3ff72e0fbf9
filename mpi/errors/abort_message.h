// SPDX-License-Identifier: BSD-3-Clause
// The last message of a rank before it ends the job.
#ifndef TOPOLOOM_ABORT_MESSAGE_H
#define TOPOLOOM_ABORT_MESSAGE_H

/// Writes to stderr and waits, at most one second, until the launcher has read it: MPICH's launcher drops what is left
/// in a rank's pipe when the rank calls MPI_Abort.
void print_before_abort(const char* format, ...) __attribute__((format(printf, 1, 2)));

#endif
