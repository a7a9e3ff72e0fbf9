// SPDX-License-Identifier: BSD-3-Clause
// Raises errors as MPI raises its own.
#ifndef TOPOLOOM_ERRORS_H
#define TOPOLOOM_ERRORS_H

#include <mpi.h>
#include <stdbool.h>

/// Whether the communicator has MPI_ERRORS_ARE_FATAL.
bool is_fatal(MPI_Comm comm);
/// Calls the error handler of the communicator; prints the message first if that ends the program. `name` is the
/// function's, without topoloom_. Returns the error class.
int raise_error(MPI_Comm comm, int error_class, const char* name, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
/// Call it first in a function, so that an error of MPI itself does not get an old message.
void clear_error_message(void);
/// The message of this thread's last error if it had this class, else an empty string.
const char* get_error_message(int error_class);

#endif
