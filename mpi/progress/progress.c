// SPDX-License-Identifier: BSD-3-Clause
#define _GNU_SOURCE
#include "progress.h"

#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

void init_progress(struct progress* progress, bool (*drive)(void* process), void* process) {
    *progress = (struct progress){.drive = drive, .process = process};
    pthread_mutex_init(&progress->guard, NULL);
    pthread_cond_init(&progress->wake, NULL);
}

/// Sleeps until a call is active. Returns false if the thread must end.
static bool wait_for_calls(struct progress* progress, bool any_active) {
    pthread_mutex_lock(&progress->guard);
    while (!any_active && !progress->woken && !progress->ends)
        pthread_cond_wait(&progress->wake, &progress->guard);
    progress->woken = false;
    const bool continues = !progress->ends;
    pthread_mutex_unlock(&progress->guard);
    return continues;
}

static void* drive_calls(void* data) {
    struct progress* progress = data;
    // Sleep between polls, because the program rarely has a spare CPU. The kernel's default timer slack would add 50
    // us.
    const struct timespec pause = {.tv_nsec = progress_pause_ns};
    prctl(PR_SET_TIMERSLACK, 1000UL);
    for (bool any_active = false; wait_for_calls(progress, any_active);) {
        any_active = progress->drive(progress->process);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

bool start_progress(struct progress* progress) {
    pthread_mutex_lock(&progress->guard);
    if (!progress->was_started) {
        progress->was_started = true;
        // Block signals, so that the program's threads handle them, except signals raised by an instruction of this
        // thread.
        static const int synchronous[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
        sigset_t all, previous;
        sigfillset(&all);
        for (size_t i = 0; i < sizeof synchronous / sizeof *synchronous; ++i) sigdelset(&all, synchronous[i]);
        pthread_sigmask(SIG_SETMASK, &all, &previous);
        progress->is_running = pthread_create(&progress->thread, NULL, drive_calls, progress) == 0;
        pthread_sigmask(SIG_SETMASK, &previous, NULL);
    }
    const bool is_running = progress->is_running;
    pthread_mutex_unlock(&progress->guard);
    return is_running;
}

void wake_progress(struct progress* progress) {
    pthread_mutex_lock(&progress->guard);
    progress->woken = true;
    pthread_cond_signal(&progress->wake);
    pthread_mutex_unlock(&progress->guard);
}

void stop_progress(struct progress* progress) {
    pthread_mutex_lock(&progress->guard);
    progress->ends = true;
    pthread_cond_signal(&progress->wake);
    const bool is_running = progress->is_running;
    pthread_mutex_unlock(&progress->guard);
    if (is_running) pthread_join(progress->thread, NULL);
    pthread_cond_destroy(&progress->wake);
    pthread_mutex_destroy(&progress->guard);
}
