// SPDX-License-Identifier: BSD-3-Clause
// Our collectives, which are timed next to MPI's.
#ifndef TOPOLOOM_MEASURE_OUR_OPERATIONS_H
#define TOPOLOOM_MEASURE_OUR_OPERATIONS_H

#include "operations.h"

/// NULL = unknown name.
collective_call* find_our_operation(const char* name);

#endif
