// SPDX-License-Identifier: BSD-3-Clause
// A thread writes the counts, because a signal handler may only call async-signal-safe functions.
#include "sigterm.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

static pthread_t thread_;
static sem_t signaled_;
static pid_t process_;  // process that started the thread; forked children have no thread
static volatile sig_atomic_t stopped_;
static void (*write_)(void);

static void end_process_by_sigterm(void) {
    signal(SIGTERM, SIG_DFL);
    kill(getpid(), SIGTERM);
}

static void on_sigterm(int number) {
    (void)number;
    if (getpid() == process_)
        sem_post(&signaled_);
    else
        end_process_by_sigterm();
}

static void* wait_for_signal(void* unused) {
    (void)unused;
    while (sem_wait(&signaled_) != 0 && errno == EINTR) continue;
    if (!stopped_) {
        write_();
        end_process_by_sigterm();
    }
    return NULL;
}

static bool is_installed(void) {
    struct sigaction current;
    return sigaction(SIGTERM, NULL, &current) == 0 && current.sa_handler == on_sigterm;
}

void write_on_sigterm(void (*write)(void)) {
    struct sigaction current, ours = {.sa_handler = on_sigterm, .sa_flags = SA_RESTART};
    if (process_ != 0 || sigaction(SIGTERM, NULL, &current) != 0 || current.sa_handler != SIG_DFL) return;
    write_ = write;
    sem_init(&signaled_, 0, 0);
    sigset_t all, previous;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &previous);  // the new thread must not receive signals
    const bool is_running = pthread_create(&thread_, NULL, wait_for_signal, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &previous, NULL);
    if (!is_running) return;
    process_ = getpid();
    sigaction(SIGTERM, &ours, NULL);
}

void restore_sigterm(void) {
    if (process_ == 0) return;
    if (is_installed()) signal(SIGTERM, SIG_DFL);
    if (process_ != getpid()) return;
    stopped_ = 1;
    sem_post(&signaled_);
    pthread_join(thread_, NULL);
}
