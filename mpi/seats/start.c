// SPDX-License-Identifier: BSD-3-Clause
// Calls seats_start once MPI runs. Fortran's bindings, and tools inside the program, come by one of these four.
#include "seats.h"
#include "shim.h"

static int started(int status) {
    static bool done;
    if (status == MPI_SUCCESS && !done) {
        done = true;
        seats_start();
    }
    return status;
}

static int init(const char* name, int* argc, char*** argv) {
    int (*next)(int*, char***) = (int (*)(int*, char***))(uintptr_t)next_symbol(name);
    return started(next(argc, argv));
}

static int init_thread(const char* name, int* argc, char*** argv, int required, int* provided) {
    int (*next)(int*, char***, int, int*) = (int (*)(int*, char***, int, int*))(uintptr_t)next_symbol(name);
    return started(next(argc, argv, required, provided));
}

SHIM_EXPORT int MPI_Init(int* argc, char*** argv) { return init("MPI_Init", argc, argv); }
SHIM_EXPORT int PMPI_Init(int* argc, char*** argv) { return init("PMPI_Init", argc, argv); }
SHIM_EXPORT int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    return init_thread("MPI_Init_thread", argc, argv, required, provided);
}
SHIM_EXPORT int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    return init_thread("PMPI_Init_thread", argc, argv, required, provided);
}
