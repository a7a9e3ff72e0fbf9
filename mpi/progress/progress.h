// SPDX-License-Identifier: BSD-3-Clause
// A thread of a process that drives its non-blocking and persistent calls, so that they go on while nobody tests them.
#ifndef TOPOLOOM_PROGRESS_H
#define TOPOLOOM_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>

/// How long it sleeps between two looks at what is active.
enum { progress_pause_ns = 20000 };

struct progress {
    bool (*drive)(void* process);  // takes its calls a step on; false: none is active
    void* process;
    pthread_mutex_t guard;  // of what follows
    pthread_cond_t wake;    // a call has become active, or the thread is to end
    bool asked, runs, woken, ends;
    pthread_t thread;
};
void make_progress(struct progress* progress, bool (*drive)(void* process), void* process);
/// Begins the thread, once however often it is asked for. False: none can be made.
bool start_progress(struct progress* progress);
/// Says that a call has become active.
void wake_progress(struct progress* progress);
/// Ends the thread, waits for that, and frees what has been made. The caller holds no guard that `drive` takes.
void end_progress(struct progress* progress);

#endif
