// SPDX-License-Identifier: BSD-3-Clause
// Collectives of libtopoloom-collective to be timed next to MPI's.
#ifndef TOPOLOOM_MEASURE_OUR_OPERATIONS_H
#define TOPOLOOM_MEASURE_OUR_OPERATIONS_H

#include "operations.h"

/// Returns NULL if the name is unknown.
collective_call* find_our_operation(const char* name);

#endif
