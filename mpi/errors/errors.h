// SPDX-License-Identifier: BSD-3-Clause
// Raises errors as MPI functions do.
#ifndef TOPOLOOM_ERRORS_H
#define TOPOLOOM_ERRORS_H

#include <mpi.h>
#include <stdbool.h>

/// Whether the communicator's error handler is MPI_ERRORS_ARE_FATAL.
bool is_fatal(MPI_Comm comm);
/// Calls the communicator's error handler. If errors are fatal, prints the message first. `name` is the function's name
/// without topoloom_. Returns the error class.
int raise_error(MPI_Comm comm, int error_class, const char* name, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
/// Clears the stored message. Functions call this first, so that a later MPI error is not explained by an old message.
void clear_error_message(void);
/// Returns the message of this thread's last error if its class is `error_class`, otherwise an empty string.
const char* get_error_message(int error_class);

#endif
