// SPDX-License-Identifier: BSD-3-Clause
// A thread that drives the process's non-blocking and persistent calls while the program does not test them.
#ifndef TOPOLOOM_PROGRESS_H
#define TOPOLOOM_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>

/// Pause between two polls of the active calls.
enum { progress_pause_ns = 20000 };

struct progress {
    bool (*drive)(void* process);  // advances active calls; false: none is active
    void* process;
    pthread_mutex_t guard;  // of the members below
    pthread_cond_t wake;    // a call has become active, or the thread must end
    bool was_started, is_running, woken, ends;
    pthread_t thread;
};
void make_progress(struct progress* progress, bool (*drive)(void* process), void* process);
/// Starts the thread unless it runs. False: it cannot be created.
bool start_progress(struct progress* progress);
/// Call it when a call has become active.
void wake_progress(struct progress* progress);
/// Joins the thread and frees its resources. The caller must not hold a mutex that `drive` takes.
void stop_progress(struct progress* progress);

#endif
