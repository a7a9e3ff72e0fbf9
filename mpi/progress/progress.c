// SPDX-License-Identifier: BSD-3-Clause
// It shares the guard of the process with the threads of the program, and sleeps while nothing is active.
#define _GNU_SOURCE
#include "progress.h"

#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#include "collective.h"

static bool wait_for_calls(struct process* process) {
    struct progress* progress = &process->progress;
    pthread_mutex_lock(&process->guard);
    while (process->active == NULL && !progress->ends) pthread_cond_wait(&progress->wake, &process->guard);
    const bool goes_on = !progress->ends;
    pthread_mutex_unlock(&process->guard);
    return goes_on;
}

static void* drive_calls(void* given) {
    struct process* process = given;
    // It sleeps between looks, as the program mostly has no CPU to spare; by default the kernel would add 50 us to that.
    const struct timespec between_looks = {.tv_nsec = progress_pause_ns};
    prctl(PR_SET_TIMERSLACK, 1000UL);
    while (wait_for_calls(process)) {
        drive_active(process);
        nanosleep(&between_looks, NULL);
    }
    return NULL;
}

const char* start_progress(struct process* process) {
    struct progress* progress = &process->progress;
    if (!process->threaded)
        return "progress=1 needs a program that asks for MPI_THREAD_MULTIPLE: calls go on when they are "
               "tested";
    static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;  // the caller may hold that of the process
    pthread_mutex_lock(&guard);
    if (!progress->asked) {
        progress->asked = true;
        // Signals are for the program's threads, but what a page of its own makes of an access in this one.
        static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
        sigset_t all, before;
        sigfillset(&all);
        for (size_t i = 0; i < sizeof own / sizeof *own; ++i) sigdelset(&all, own[i]);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        progress->runs = pthread_create(&progress->thread, NULL, drive_calls, process) == 0;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    const bool runs = progress->runs;
    pthread_mutex_unlock(&guard);
    return runs ? NULL : "no thread can be made for progress=1: calls go on when they are tested";
}

void wake_progress(struct process* process) { pthread_cond_signal(&process->progress.wake); }

void stop_progress(struct process* process) {
    struct progress* progress = &process->progress;
    if (!progress->runs) return;
    pthread_mutex_lock(&process->guard);
    progress->ends = true;
    wake_progress(process);
    pthread_mutex_unlock(&process->guard);
    pthread_join(progress->thread, NULL);
}
