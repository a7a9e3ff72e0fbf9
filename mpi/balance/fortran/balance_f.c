// SPDX-License-Identifier: BSD-3-Clause
// What the Fortran module calls where C has a handle of MPI or a text.
#include <stddef.h>
#include <string.h>

#include "topoloom_balance.h"

/// An empty text is one that was not given.
static const char* given(const char* text) { return text[0] == '\0' ? NULL : text; }

TOPOLOOM_BALANCE_API int topoloom_balance_f(int comm, long long count, const char* method,
                                            const char* machine, topoloom_balance_options options,
                                            topoloom_plan** plan) {
    options.method = given(method);
    options.machine = given(machine);
    return topoloom_balance(MPI_Comm_f2c(comm), count, &options, plan);
}

TOPOLOOM_BALANCE_API int topoloom_plan_given_f(int comm, long long count, int to_count, const int* to,
                                               const long long* tasks_to, topoloom_balance_options options,
                                               topoloom_plan** plan) {
    return topoloom_plan_given(MPI_Comm_f2c(comm), count, to_count, to, tasks_to, &options, plan);
}

/// Fortran pads texts with blanks.
TOPOLOOM_BALANCE_API void topoloom_balance_error_f(int status, char* text, int size) {
    const char* why = topoloom_balance_error(status);
    const size_t length = strlen(why), room = (size_t)size;
    memset(text, ' ', room);
    memcpy(text, why, length < room ? length : room);
}
