// SPDX-License-Identifier: BSD-3-Clause
// The last message of a rank before it aborts the job.
#ifndef TOPOLOOM_ABORT_MESSAGE_H
#define TOPOLOOM_ABORT_MESSAGE_H

/// Writes to stderr, and waits at most 1 s until the launcher has read the message: MPICH's launcher discards unread
/// output when the rank calls MPI_Abort.
void print_before_abort(const char* format, ...) __attribute__((format(printf, 1, 2)));

#endif
