// SPDX-License-Identifier: BSD-3-Clause
#include "errors.h"

#include <stdarg.h>
#include <stdio.h>

#include "abort_message.h"

static _Thread_local struct {
    char text[256];
    int error_class;
} last_error_;

bool is_fatal(MPI_Comm comm) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    if (PMPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) return false;
    const bool is_fatal = handler == MPI_ERRORS_ARE_FATAL;
    if (!is_fatal && handler != MPI_ERRORS_RETURN) PMPI_Errhandler_free(&handler);
    return is_fatal;
}

int raise_error(MPI_Comm comm, int error_class, const char* name, const char* format, ...) {
    va_list values;
    va_start(values, format);
    vsnprintf(last_error_.text, sizeof last_error_.text, format, values);
    va_end(values);
    last_error_.error_class = error_class;
    if (is_fatal(comm)) print_before_abort("topoloom: topoloom_%s: %s\n", name, last_error_.text);
    PMPI_Comm_call_errhandler(comm, error_class);
    return error_class;
}

void clear_error_message(void) { last_error_.error_class = MPI_SUCCESS; }

const char* get_error_message(int error_class) {
    return last_error_.error_class == error_class ? last_error_.text : "";
}
