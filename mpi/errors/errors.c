// SPDX-License-Identifier: BSD-3-Clause
// Errors, raised by the error handler of the program's communicator.
#include "errors.h"

#include <stdarg.h>
#include <stdio.h>

#include "last_words.h"

/// Of the last error that this thread raised.
static _Thread_local struct {
    char text[256];
    int status;
} last;

bool is_fatal(MPI_Comm comm) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    if (PMPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) return false;
    const bool ends = handler == MPI_ERRORS_ARE_FATAL;
    if (!ends && handler != MPI_ERRORS_RETURN) PMPI_Errhandler_free(&handler);
    return ends;
}

int raise_error(MPI_Comm comm, int error_class, const char* name, const char* format, ...) {
    va_list values;
    va_start(values, format);
    vsnprintf(last.text, sizeof last.text, format, values);
    va_end(values);
    last.status = error_class;
    if (is_fatal(comm)) say_last("topoloom: topoloom_%s: %s\n", name, last.text);
    PMPI_Comm_call_errhandler(comm, error_class);
    return error_class;
}

void forget_raised(void) { last.status = MPI_SUCCESS; }

const char* why_raised(int status) { return last.status == status ? last.text : ""; }
