// SPDX-License-Identifier: BSD-3-Clause
// Wrappers for the Fortran module, which convert MPI handles and strings.
#include <stddef.h>
#include <string.h>

#include "topoloom_balance.h"

/// Converts an empty Fortran string to NULL, the default.
static const char* null_if_empty(const char* text) { return text[0] == '\0' ? NULL : text; }

TOPOLOOM_BALANCE_API int topoloom_balance_f(int comm, long long count, const char* method,
                                            const char* machine, topoloom_balance_options options,
                                            topoloom_plan** plan) {
    options.method = null_if_empty(method);
    options.machine = null_if_empty(machine);
    return topoloom_balance(MPI_Comm_f2c(comm), count, &options, plan);
}

TOPOLOOM_BALANCE_API int topoloom_plan_create_f(int comm, long long count, int to_count, const int* to,
                                                const long long* tasks_to, topoloom_balance_options options,
                                                topoloom_plan** plan) {
    return topoloom_plan_create(MPI_Comm_f2c(comm), count, to_count, to, tasks_to, &options, plan);
}

/// Fortran strings are padded with blanks.
TOPOLOOM_BALANCE_API void topoloom_balance_error_f(int status, char* text, int size) {
    const char* why = topoloom_balance_error(status);
    const size_t length = strlen(why), capacity = (size_t)size;
    memset(text, ' ', capacity);
    memcpy(text, why, length < capacity ? length : capacity);
}
