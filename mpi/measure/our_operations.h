// SPDX-License-Identifier: BSD-3-Clause
// Our collectives that are timed beside MPI's.
#ifndef TOPOLOOM_MEASURE_OUR_OPERATIONS_H
#define TOPOLOOM_MEASURE_OUR_OPERATIONS_H

#include "operations.h"

/// NULL: there is none of that name.
collective_call* find_ours(const char* name);

#endif
