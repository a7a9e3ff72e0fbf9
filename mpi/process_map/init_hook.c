// SPDX-License-Identifier: BSD-3-Clause
// Wraps the four functions that initialize MPI. Fortran bindings and tools inside the program call them, too.
#include "process_map.h"
#include "shim.h"

static void (*hook_)(void);

void register_init_hook(void (*hook)(void)) { hook_ = hook; }

static int run_hook_once(int status) {
    static bool called;
    if (status == MPI_SUCCESS && hook_ != NULL && !called) {
        called = true;
        hook_();
    }
    return status;
}

static int call_next_init(const char* name, int* argc, char*** argv) {
    int (*next)(int*, char***) = (int (*)(int*, char***))(uintptr_t)find_next_symbol(name);
    return run_hook_once(next(argc, argv));
}

static int call_next_init_thread(const char* name, int* argc, char*** argv, int required, int* provided) {
    int (*next)(int*, char***, int, int*) =
        (int (*)(int*, char***, int, int*))(uintptr_t)find_next_symbol(name);
    return run_hook_once(next(argc, argv, required, provided));
}

SHIM_EXPORT int MPI_Init(int* argc, char*** argv) { return call_next_init("MPI_Init", argc, argv); }
SHIM_EXPORT int PMPI_Init(int* argc, char*** argv) { return call_next_init("PMPI_Init", argc, argv); }
SHIM_EXPORT int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    return call_next_init_thread("MPI_Init_thread", argc, argv, required, provided);
}
SHIM_EXPORT int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    return call_next_init_thread("PMPI_Init_thread", argc, argv, required, provided);
}
