// SPDX-License-Identifier: BSD-3-Clause
// Fences: ranks add up their measured times and learn from the sums, so that all ranks choose the same schedules.
#ifndef TOPOLOOM_COLLECTIVE_FENCE_H
#define TOPOLOOM_COLLECTIVE_FENCE_H

#include "collective.h"

/// Records the time of a completed timed call, and runs a fence if one is due.
int record_time(const struct call* call);

#endif
