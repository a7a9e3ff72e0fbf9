// SPDX-License-Identifier: BSD-3-Clause
// Fortran versions of the wrappers in wrappers.c: `mpi_x_` (mpif.h, use mpi) and `mpi_x_f08_` (use mpi_f08, whose error
// argument is optional). Profilers of Fortran calls eventually call the C PMPI_ functions.
#include "record.h"

#define INT MPI_Fint*

#define INIT(mpi_function)                                                   \
    SHIM_EXPORT void mpi_function(INT error) {                               \
        NEXT(mpi_function, void (*)(INT));                                   \
        ENTER_CALL(enter_call());                                            \
        next(error);                                                         \
        if (scope.outermost && is_fortran_success(error)) start_recording(); \
    }
#define INIT_THREAD(mpi_function)                                            \
    SHIM_EXPORT void mpi_function(INT required, INT provided, INT error) {   \
        NEXT(mpi_function, void (*)(INT, INT, INT));                         \
        ENTER_CALL(enter_call());                                            \
        next(required, provided, error);                                     \
        if (scope.outermost && is_fortran_success(error)) start_recording(); \
    }
#define FINALIZE(mpi_function)                 \
    SHIM_EXPORT void mpi_function(INT error) { \
        NEXT(mpi_function, void (*)(INT));     \
        finish_recording();                    \
        next(error);                           \
    }
#define ABORT(mpi_function)                                        \
    SHIM_EXPORT void mpi_function(INT comm, INT code, INT error) { \
        NEXT(mpi_function, void (*)(INT, INT, INT));               \
        dump_and_notify("abort", *code);                           \
        next(comm, code, error);                                   \
    }
#define PCONTROL(mpi_function)                    \
    SHIM_EXPORT void mpi_function(INT level) {    \
        NEXT(mpi_function, void (*)(INT));        \
        ENTER_CALL(enter_call());                 \
        if (scope.outermost) enter_phase(*level); \
        next(level);                              \
    }
#define REQUEST_CALL(mpi_function, record)                              \
    SHIM_EXPORT void mpi_function(INT request, INT error) {             \
        NEXT(mpi_function, void (*)(INT, INT));                         \
        ENTER_CALL(enter_call());                                       \
        const MPI_Request original_request = MPI_Request_f2c(*request); \
        next(request, error);                                           \
        if (lock_if_recorded(&scope, fortran_status(error))) {          \
            record(original_request);                                   \
            unlock_recording();                                         \
        }                                                               \
    }
#define STARTALL(mpi_function)                                                                   \
    SHIM_EXPORT void mpi_function(INT count, INT requests, INT error) {                          \
        NEXT(mpi_function, void (*)(INT, INT, INT));                                             \
        ENTER_CALL(enter_call());                                                                \
        next(count, requests, error);                                                            \
        if (lock_if_recorded(&scope, fortran_status(error))) {                                   \
            for (int i = 0; i < *count; ++i) record_request_start(MPI_Request_f2c(requests[i])); \
            unlock_recording();                                                                  \
        }                                                                                        \
    }
#define BOTH(wrapper, mpi_function, ...) \
    wrapper(mpi_function##_, ##__VA_ARGS__) wrapper(mpi_function##_f08_, ##__VA_ARGS__)

BOTH(INIT, mpi_init)
BOTH(INIT_THREAD, mpi_init_thread)
BOTH(FINALIZE, mpi_finalize)
BOTH(ABORT, mpi_abort)
BOTH(PCONTROL, mpi_pcontrol)
BOTH(REQUEST_CALL, mpi_start, record_request_start)
BOTH(STARTALL, mpi_startall)
BOTH(REQUEST_CALL, mpi_request_free, remove_request)
