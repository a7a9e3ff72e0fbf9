// SPDX-License-Identifier: BSD-3-Clause
// A thread waits for the handler, which may do next to nothing itself.
#include "ending.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

static pthread_t thread_;
static sem_t came_;
static pid_t process_;  // that has the thread; its children have not
static volatile sig_atomic_t forgotten_;
static void (*write_)(void);

static void die(void) {
    signal(SIGTERM, SIG_DFL);
    kill(getpid(), SIGTERM);
}

static void handle(int number) {
    (void)number;
    if (getpid() == process_)
        sem_post(&came_);
    else
        die();
}

static void* wait_for_it(void* unused) {
    (void)unused;
    while (sem_wait(&came_) != 0 && errno == EINTR) continue;
    if (!forgotten_) {
        write_();
        die();
    }
    return NULL;
}

static bool is_ours(void) {
    struct sigaction now;
    return sigaction(SIGTERM, NULL, &now) == 0 && now.sa_handler == handle;
}

void ending_watch(void (*write)(void)) {
    struct sigaction now, ours = {.sa_handler = handle, .sa_flags = SA_RESTART};
    if (process_ != 0 || sigaction(SIGTERM, NULL, &now) != 0 || now.sa_handler != SIG_DFL) return;
    write_ = write;
    sem_init(&came_, 0, 0);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the program's threads
    const bool runs = pthread_create(&thread_, NULL, wait_for_it, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!runs) return;
    process_ = getpid();
    sigaction(SIGTERM, &ours, NULL);
}

void ending_forget(void) {
    if (process_ == 0) return;
    if (is_ours()) signal(SIGTERM, SIG_DFL);
    if (process_ != getpid()) return;
    forgotten_ = 1;
    sem_post(&came_);
    pthread_join(thread_, NULL);
}
