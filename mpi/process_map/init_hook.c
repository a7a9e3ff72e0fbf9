// SPDX-License-Identifier: BSD-3-Clause
// Fortran bindings and tools inside the program also enter through one of these four functions.
#include "process_map.h"
#include "shim.h"

static void (*hook_)(void);

void call_after_init(void (*hook)(void)) { hook_ = hook; }

static int call_hook(int status) {
    static bool called;
    if (status == MPI_SUCCESS && hook_ != NULL && !called) {
        called = true;
        hook_();
    }
    return status;
}

static int init(const char* name, int* argc, char*** argv) {
    int (*next)(int*, char***) = (int (*)(int*, char***))(uintptr_t)next_symbol(name);
    return call_hook(next(argc, argv));
}

static int init_thread(const char* name, int* argc, char*** argv, int required, int* provided) {
    int (*next)(int*, char***, int, int*) = (int (*)(int*, char***, int, int*))(uintptr_t)next_symbol(name);
    return call_hook(next(argc, argv, required, provided));
}

SHIM_EXPORT int MPI_Init(int* argc, char*** argv) { return init("MPI_Init", argc, argv); }
SHIM_EXPORT int PMPI_Init(int* argc, char*** argv) { return init("PMPI_Init", argc, argv); }
SHIM_EXPORT int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    return init_thread("MPI_Init_thread", argc, argv, required, provided);
}
SHIM_EXPORT int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    return init_thread("PMPI_Init_thread", argc, argv, required, provided);
}
