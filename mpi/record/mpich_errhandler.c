// SPDX-License-Identifier: BSD-3-Clause
// MPICH's launcher kills all ranks right after a fatal error, before they can write a crash dump. So our error handler
// replaces MPI_ERRORS_ARE_FATAL on MPI_COMM_WORLD, and other communicators inherit this handler. It writes the dump,
// and then raises the error as MPI would. It is hidden from the program.
#include "record.h"

#ifdef MPICH_VERSION
static MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;

static void dump_and_raise_error(MPI_Comm* comm, int* code, ...) {
    dump_and_notify("error", *code);
    PMPI_Comm_set_errhandler(*comm, MPI_ERRORS_ARE_FATAL);
    PMPI_Comm_call_errhandler(*comm, *code);
}

static MPI_Errhandler get_world_errhandler(void) {
    NEXT(PMPI_Comm_get_errhandler, int (*)(MPI_Comm, MPI_Errhandler*));
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    next(MPI_COMM_WORLD, &handler);
    return handler;
}

void install_errhandler(void) {
    if (get_world_errhandler() == MPI_ERRORS_ARE_FATAL &&
        PMPI_Comm_create_errhandler(dump_and_raise_error, &handler_) == MPI_SUCCESS)
        PMPI_Comm_set_errhandler(MPI_COMM_WORLD, handler_);
}

void remove_errhandler(void) {
    MPI_Errhandler current = get_world_errhandler();
    if (current == handler_ && current != MPI_ERRHANDLER_NULL) {
        PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        PMPI_Errhandler_free(&current);
    }
}

#define GET_ERRHANDLER(mpi_function)                                                            \
    SHIM_EXPORT int mpi_function(MPI_Comm comm, MPI_Errhandler* handler) {                      \
        NEXT(mpi_function, int (*)(MPI_Comm, MPI_Errhandler*));                                 \
        const int status = next(comm, handler);                                                 \
        if (status == MPI_SUCCESS && *handler == handler_ && handler_ != MPI_ERRHANDLER_NULL) { \
            PMPI_Errhandler_free(handler);                                                      \
            *handler = MPI_ERRORS_ARE_FATAL;                                                    \
        }                                                                                       \
        return status;                                                                          \
    }
GET_ERRHANDLER(MPI_Comm_get_errhandler)
GET_ERRHANDLER(PMPI_Comm_get_errhandler)
GET_ERRHANDLER(MPI_Errhandler_get)
GET_ERRHANDLER(PMPI_Errhandler_get)
#else
void install_errhandler(void) {}
void remove_errhandler(void) {}
#endif
