// SPDX-License-Identifier: BSD-3-Clause
// What the C and the Fortran wrappers share.
#ifndef TOPOLOOM_PRELOAD_H
#define TOPOLOOM_PRELOAD_H

#include "reorder.h"
#include "shim.h"

bool preload_active(void);
int preload_reorder(int status, MPI_Comm* made, MPI_Info info);
void preload_report(void);  // collective, before MPI_Finalize

#endif
