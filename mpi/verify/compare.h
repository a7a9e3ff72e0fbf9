// SPDX-License-Identifier: BSD-3-Clause
// Compares the location of each rank with its planned binding.
#ifndef TOPOLOOM_COMPARE_H
#define TOPOLOOM_COMPARE_H

#include <stdio.h>

#include "process_map.h"

enum verdict {
    VERDICT_OK,
    VERDICT_UNBOUND,  // the host is right, but the allowed CPUs exceed the planned CPUs
    VERDICT_CPUS,     // the host is right, but some planned CPUs are not allowed
    VERDICT_HOST
};
enum verdict compare_rank(const struct bindings* bindings, int rank, const struct affinity* actual);
/// Warns if the plan contains IP addresses of hosts, which cannot be compared with host names.
void print_uncompared_hosts(FILE* out, const struct bindings* bindings);
void print_verdict(FILE* out, enum verdict verdict, const struct bindings* bindings, int rank,
                   const struct affinity* actual);
/// Prints a line for each rank whose location differs from the plan. Returns the number of such ranks.
int print_misplaced_ranks(FILE* out, const struct bindings* bindings, const struct affinity_report* report);

#endif
