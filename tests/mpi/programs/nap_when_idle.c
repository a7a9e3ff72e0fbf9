// SPDX-License-Identifier: BSD-3-Clause
// Linked into programs of MPICH, which polls without ever yielding: a rank that finds nothing to do naps.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

#ifdef __cplusplus
extern "C"
#endif
    unsigned ucp_worker_progress(void* worker);

enum { POLLS_BEFORE_NAP = 100, NAP_NS = 20000 };

// MPICH finds this one before UCX's.
unsigned ucp_worker_progress(void* worker) {
    typedef unsigned (*Progress)(void*);
    static Progress progress;
    static __thread unsigned idle_polls;
    if (!progress) progress = (Progress)dlsym(RTLD_NEXT, "ucp_worker_progress");
    const unsigned events = progress(worker);
    idle_polls = events ? 0 : idle_polls + 1;
    if (idle_polls > POLLS_BEFORE_NAP) {
        const struct timespec nap = {0, NAP_NS};
        nanosleep(&nap, 0);
    }
    return events;
}
