// SPDX-License-Identifier: BSD-3-Clause
// It sleeps while nothing is active.
#define _GNU_SOURCE
#include "progress.h"

#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

void make_progress(struct progress* progress, bool (*drive)(void* process), void* process) {
    *progress = (struct progress){.drive = drive, .process = process};
    pthread_mutex_init(&progress->guard, NULL);
    pthread_cond_init(&progress->wake, NULL);
}

/// Returns at once if any is active. False: the thread is to end.
static bool wait_for_calls(struct progress* progress, bool any) {
    pthread_mutex_lock(&progress->guard);
    while (!any && !progress->woken && !progress->ends) pthread_cond_wait(&progress->wake, &progress->guard);
    progress->woken = false;
    const bool goes_on = !progress->ends;
    pthread_mutex_unlock(&progress->guard);
    return goes_on;
}

static void* drive_calls(void* given) {
    struct progress* progress = given;
    // It sleeps between looks, as the program mostly has no CPU to spare; by default the kernel would add 50 us to that.
    const struct timespec between_looks = {.tv_nsec = progress_pause_ns};
    prctl(PR_SET_TIMERSLACK, 1000UL);
    for (bool any = false; wait_for_calls(progress, any);) {
        any = progress->drive(progress->process);
        nanosleep(&between_looks, NULL);
    }
    return NULL;
}

bool start_progress(struct progress* progress) {
    pthread_mutex_lock(&progress->guard);
    if (!progress->asked) {
        progress->asked = true;
        // Signals are for the program's threads, but what a page of its own makes of an access in this one.
        static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
        sigset_t all, before;
        sigfillset(&all);
        for (size_t i = 0; i < sizeof own / sizeof *own; ++i) sigdelset(&all, own[i]);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        progress->runs = pthread_create(&progress->thread, NULL, drive_calls, progress) == 0;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    const bool runs = progress->runs;
    pthread_mutex_unlock(&progress->guard);
    return runs;
}

void wake_progress(struct progress* progress) {
    pthread_mutex_lock(&progress->guard);
    progress->woken = true;
    pthread_cond_signal(&progress->wake);
    pthread_mutex_unlock(&progress->guard);
}

void end_progress(struct progress* progress) {
    pthread_mutex_lock(&progress->guard);
    progress->ends = true;
    pthread_cond_signal(&progress->wake);
    const bool runs = progress->runs;
    pthread_mutex_unlock(&progress->guard);
    if (runs) pthread_join(progress->thread, NULL);
    pthread_cond_destroy(&progress->wake);
    pthread_mutex_destroy(&progress->guard);
}
