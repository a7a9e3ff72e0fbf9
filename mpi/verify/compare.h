// SPDX-License-Identifier: BSD-3-Clause
// Compares where ranks run with where the plan binds them.
#ifndef TOPOLOOM_COMPARE_H
#define TOPOLOOM_COMPARE_H

#include <stdio.h>

#include "process_map.h"

enum verdict {
    VERDICT_OK,
    VERDICT_UNBOUND,  // right host; may run on its CPUs and on others
    VERDICT_CPUS,     // right host, but some of its CPUs are not allowed
    VERDICT_HOST
};
enum verdict compare_rank(const struct bindings* bindings, int rank, const struct affinity* found);
/// Warns if the plan names hosts by IP address, which cannot be compared with host names.
void print_uncompared_hosts(FILE* out, const struct bindings* bindings);
void print_verdict(FILE* out, enum verdict verdict, const struct bindings* bindings, int rank,
                   const struct affinity* found);
/// Prints a line for each rank that is not where the plan binds it; returns how many.
int print_misplaced_ranks(FILE* out, const struct bindings* bindings, const struct affinity_report* report);

#endif
