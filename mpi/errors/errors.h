// SPDX-License-Identifier: BSD-3-Clause
// Errors of calls, as MPI raises its own.
#ifndef TOPOLOOM_ERRORS_H
#define TOPOLOOM_ERRORS_H

#include <mpi.h>
#include <stdbool.h>

/// Whether an error on this communicator ends the program.
bool is_fatal(MPI_Comm comm);
/// Raises an error of this class on the communicator; where that ends the program, says why in one line first.
/// `name` is that of the call, without topoloom_.
int raise_error(MPI_Comm comm, int error_class, const char* name, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
/// For a call that begins: an error of MPI itself is not explained by what was raised before.
void forget_raised(void);
/// Why the last error of this thread was raised, if it was of this class, else an empty text.
const char* why_raised(int status);

#endif
