// SPDX-License-Identifier: BSD-3-Clause
// One rank beside its seat in the bindings.
#ifndef TOPOLOOM_COMPARE_H
#define TOPOLOOM_COMPARE_H

#include <stdio.h>

#include "seats.h"

enum verdict {
    VERDICT_OK,
    VERDICT_UNBOUND,  // on its host; may run on its CPUs and on more
    VERDICT_CPUS,     // on its host, but may not run on all of its CPUs, or only on others
    VERDICT_HOST
};
/// Says so if the plan names hosts by their IP addresses, which no process calls its host.
void tell_uncompared(FILE* out, const struct bindings* bindings);
enum verdict compare(const struct bindings* bindings, int rank, const struct testimony* found);
void explain(FILE* out, enum verdict verdict, const struct bindings* bindings, int rank,
             const struct testimony* found);

/// A line for each rank that is not where the plan puts it; returns how many. In verify.c.
int tell_elsewhere(FILE* out, const struct bindings* bindings, const struct testimonies* all);

#endif
