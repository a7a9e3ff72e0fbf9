// SPDX-License-Identifier: BSD-3-Clause
#ifndef TOPOLOOM_PRELOAD_REPLACEMENT_REPORT_H
#define TOPOLOOM_PRELOAD_REPLACEMENT_REPORT_H

#include <stdbool.h>

/// Prints the counts of all ranks on rank 0, if it counts calls. Collective over MPI_COMM_WORLD. If not all ranks have
/// this library, each process prints its own counts.
void print_replacement_report(bool is_loaded_on_all);

#endif
