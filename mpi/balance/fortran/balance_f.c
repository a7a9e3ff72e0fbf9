// SPDX-License-Identifier: BSD-3-Clause
// What the Fortran module calls where C has a handle of MPI or a text.
#include <stddef.h>

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
