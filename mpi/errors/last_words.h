// SPDX-License-Identifier: BSD-3-Clause
// What a rank says before it ends its job.
#ifndef TOPOLOOM_LAST_WORDS_H
#define TOPOLOOM_LAST_WORDS_H

/// Writes to stderr, and returns when the launcher has read it, after a second at most: MPICH's launcher drops
/// what is still in a rank's pipe when the rank calls MPI_Abort.
void say_last(const char* format, ...) __attribute__((format(printf, 1, 2)));

#endif
