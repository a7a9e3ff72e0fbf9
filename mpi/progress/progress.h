// SPDX-License-Identifier: BSD-3-Clause
// A thread of a process that drives its non-blocking and persistent calls, so that they go on while nobody tests them.
#ifndef TOPOLOOM_PROGRESS_H
#define TOPOLOOM_PROGRESS_H

#include <stdbool.h>

struct process;

/// How long it sleeps between two looks at what is active.
enum { progress_pause_ns = 20000 };

/// Begins it, once for a process however often it is asked for. NULL, or why there is none: calls go on when they are tested.
const char* start_progress(struct process* process);
/// Says that a call has become active. The caller holds the guard of the process.
void wake_progress(struct process* process);
/// Ends it, and waits for that. The caller does not hold the guard.
void stop_progress(struct process* process);

#endif
