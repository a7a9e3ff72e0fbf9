// SPDX-License-Identifier: BSD-3-Clause
// A thread that advances non-blocking and persistent calls while the program computes.
#ifndef TOPOLOOM_PROGRESS_H
#define TOPOLOOM_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>

/// Pause between two polls of the active calls.
enum { progress_pause_ns = 20000 };

struct progress {
    bool (*drive)(void* process);  // advances the active calls; returns false if none is active
    void* process;
    pthread_mutex_t guard;  // mutex of the following members
    pthread_cond_t wake;    // signals that a call has become active, or that the thread must end
    bool was_started, is_running, woken, ends;
    pthread_t thread;
};
void init_progress(struct progress* progress, bool (*drive)(void* process), void* process);
/// Starts the thread if it is not running. Returns false if the thread cannot be created.
bool start_progress(struct progress* progress);
/// Wakes the thread after a call has become active.
void wake_progress(struct progress* progress);
/// Joins the thread, and frees its resources. The caller must not hold a mutex that `drive` locks.
void stop_progress(struct progress* progress);

#endif
