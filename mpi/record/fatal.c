// SPDX-License-Identifier: BSD-3-Clause
// MPICH's launcher kills all ranks at once after a fatal error, before any could leave its counts. So there the error
// handler of MPI_COMM_WORLD, which other communicators inherit, is one of ours for as long as the program has
// MPI_ERRORS_ARE_FATAL there; it leaves the counts and then does what MPI would. The program does not see it.
#include "record.h"

#ifdef MPICH_VERSION
static MPI_Errhandler ours_ = MPI_ERRHANDLER_NULL;

static void on_error(MPI_Comm* comm, int* code, ...) {
    partial_leave("error", *code);
    PMPI_Comm_set_errhandler(*comm, MPI_ERRORS_ARE_FATAL);
    PMPI_Comm_call_errhandler(*comm, *code);
}

static MPI_Errhandler of_world(void) {
    NEXT(PMPI_Comm_get_errhandler, int (*)(MPI_Comm, MPI_Errhandler*));
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    next(MPI_COMM_WORLD, &handler);
    return handler;
}

void fatal_start(void) {
    if (of_world() == MPI_ERRORS_ARE_FATAL && PMPI_Comm_create_errhandler(on_error, &ours_) == MPI_SUCCESS)
        PMPI_Comm_set_errhandler(MPI_COMM_WORLD, ours_);
}

void fatal_finish(void) {
    MPI_Errhandler now = of_world();
    if (now == ours_ && now != MPI_ERRHANDLER_NULL) {
        PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        PMPI_Errhandler_free(&now);
    }
}

#define GET_ERRHANDLER(name)                                                              \
    SHIM_EXPORT int name(MPI_Comm comm, MPI_Errhandler* handler) {                        \
        NEXT(name, int (*)(MPI_Comm, MPI_Errhandler*));                                   \
        const int status = next(comm, handler);                                           \
        if (status == MPI_SUCCESS && *handler == ours_ && ours_ != MPI_ERRHANDLER_NULL) { \
            PMPI_Errhandler_free(handler);                                                \
            *handler = MPI_ERRORS_ARE_FATAL;                                              \
        }                                                                                 \
        return status;                                                                    \
    }
GET_ERRHANDLER(MPI_Comm_get_errhandler)
GET_ERRHANDLER(PMPI_Comm_get_errhandler)
GET_ERRHANDLER(MPI_Errhandler_get)
GET_ERRHANDLER(PMPI_Errhandler_get)
#else
void fatal_start(void) {}
void fatal_finish(void) {}
#endif
