// SPDX-License-Identifier: BSD-3-Clause
// Preloaded if MPICH has more ranks than cores: MPICH polls without a pause, so each message takes a time
// slice. With this library, unsuccessful polls yield, as in Open MPI.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>

unsigned ucp_worker_progress(void* worker) {
    static unsigned (*next)(void*);
    if (next == NULL) next = (unsigned (*)(void*))dlsym(RTLD_NEXT, "ucp_worker_progress");
    const unsigned found = next(worker);
    if (found == 0) sched_yield();
    return found;
}
