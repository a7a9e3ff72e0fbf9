// SPDX-License-Identifier: BSD-3-Clause
// Errors, raised by the error handler of the program's communicator.
#include "errors.h"

#include <stdarg.h>
#include <stdio.h>

bool is_fatal(MPI_Comm comm) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    if (PMPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) return false;
    const bool ends = handler == MPI_ERRORS_ARE_FATAL;
    if (!ends && handler != MPI_ERRORS_RETURN) PMPI_Errhandler_free(&handler);
    return ends;
}

int raise_error(MPI_Comm comm, int error_class, const char* name, const char* format, ...) {
    if (is_fatal(comm)) {
        char text[256];
        va_list values;
        va_start(values, format);
        vsnprintf(text, sizeof text, format, values);
        va_end(values);
        fprintf(stderr, "topoloom: topoloom_%s: %s\n", name, text);
    }
    PMPI_Comm_call_errhandler(comm, error_class);
    return error_class;
}
