// SPDX-License-Identifier: BSD-3-Clause
// Lets SimGrid's programs call preloaded libraries.
//
// SimGrid loads a program with RTLD_DEEPBIND, so that its calls of MPI go to SimGrid's library and never to a preloaded
// one. This dlopen omits that flag.
#define _GNU_SOURCE
#include <mpi.h>

#ifdef SMPI_H
#include <dlfcn.h>
#include <stddef.h>

#include "shim.h"

SHIM_EXPORT void* dlopen(const char* file, int mode) {
    static void* (*next)(const char*, int) = NULL;
    if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "dlopen");
    return next(file, mode & ~RTLD_DEEPBIND);
}
#endif
