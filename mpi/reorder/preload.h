// SPDX-License-Identifier: BSD-3-Clause
// Interface shared by the C and Fortran wrappers.
#ifndef TOPOLOOM_PRELOAD_H
#define TOPOLOOM_PRELOAD_H

#include "reorder.h"
#include "shim.h"

bool is_reorder_active(void);
void report_reordering(void);  // collective; called before MPI_Finalize

#endif
