// SPDX-License-Identifier: BSD-3-Clause
// Linked into test programs: a rank that polls without success sleeps, so that ranks on the same
// core can run.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif
unsigned ucp_worker_progress(void* worker);
int sched_yield(void) __attribute__((__nothrow__));
#ifdef __cplusplus
}
#endif

// An unsuccessful poll of Open MPI takes less than BUSY_NS.
enum { POLLS_BEFORE_NAP = 100, NAP_NS = 20000, BUSY_NS = 5000 };

static void nap(void) {
    const struct timespec duration = {0, NAP_NS};
    nanosleep(&duration, 0);
}

static long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

// MPICH polls without yielding; this function overrides UCX's.
unsigned ucp_worker_progress(void* worker) {
    typedef unsigned (*Progress)(void*);
    static Progress progress;
    static __thread unsigned idle_polls;
    if (!progress) progress = (Progress)dlsym(RTLD_NEXT, "ucp_worker_progress");
    const unsigned events = progress(worker);
    idle_polls = events ? 0 : idle_polls + 1;
    if (idle_polls > POLLS_BEFORE_NAP) nap();
    return events;
}

// Open MPI yields after each unsuccessful poll; this function overrides libc's.
int sched_yield(void) {
    static __thread unsigned idle_polls;
    static __thread long last_end;
    idle_polls = now_ns() - last_end < BUSY_NS ? idle_polls + 1 : 0;
    if (idle_polls > POLLS_BEFORE_NAP)
        nap();
    else
        syscall(SYS_sched_yield);
    last_end = now_ns();
    return 0;
}
