// SPDX-License-Identifier: BSD-3-Clause
// What control.c does, from Fortran: `mpi_x_` (mpif.h, use mpi) and `mpi_x_f08_` (use mpi_f08, whose error argument
// may be missing). Profilers of Fortran calls come by C's PMPI_ twins in the end.
#include "record.h"

#define INT MPI_Fint*

#define INIT(name)                                             \
    SHIM_EXPORT void name(INT error) {                         \
        NEXT(name, void (*)(INT));                             \
        RECORD_ENTER(record_enter());                          \
        next(error);                                           \
        if (inside.outer && fortran_ok(error)) record_start(); \
    }
#define INIT_THREAD(name)                                          \
    SHIM_EXPORT void name(INT required, INT provided, INT error) { \
        NEXT(name, void (*)(INT, INT, INT));                       \
        RECORD_ENTER(record_enter());                              \
        next(required, provided, error);                           \
        if (inside.outer && fortran_ok(error)) record_start();     \
    }
#define FINALIZE(name)                 \
    SHIM_EXPORT void name(INT error) { \
        NEXT(name, void (*)(INT));     \
        record_finish();               \
        next(error);                   \
    }
#define ABORT(name)                                        \
    SHIM_EXPORT void name(INT comm, INT code, INT error) { \
        NEXT(name, void (*)(INT, INT, INT));               \
        partial_leave("abort", *code);                     \
        next(comm, code, error);                           \
    }
#define PCONTROL(name)                         \
    SHIM_EXPORT void name(INT level) {         \
        NEXT(name, void (*)(INT));             \
        RECORD_ENTER(record_enter());          \
        if (inside.outer) enter_phase(*level); \
        next(level);                           \
    }
#define START(name)                                            \
    SHIM_EXPORT void name(INT request, INT error) {            \
        NEXT(name, void (*)(INT, INT));                        \
        RECORD_ENTER(record_enter());                          \
        const MPI_Request started = MPI_Request_f2c(*request); \
        next(request, error);                                  \
        if (record_counts(&inside, fortran_status(error))) {   \
            plan_play(started);                                \
            record_unlock();                                   \
        }                                                      \
    }
#define STARTALL(name)                                                                \
    SHIM_EXPORT void name(INT count, INT requests, INT error) {                       \
        NEXT(name, void (*)(INT, INT, INT));                                          \
        RECORD_ENTER(record_enter());                                                 \
        next(count, requests, error);                                                 \
        if (record_counts(&inside, fortran_status(error))) {                          \
            for (int i = 0; i < *count; ++i) plan_play(MPI_Request_f2c(requests[i])); \
            record_unlock();                                                          \
        }                                                                             \
    }
#define REQUEST_FREE(name)                                   \
    SHIM_EXPORT void name(INT request, INT error) {          \
        NEXT(name, void (*)(INT, INT));                      \
        RECORD_ENTER(record_enter());                        \
        const MPI_Request freed = MPI_Request_f2c(*request); \
        next(request, error);                                \
        if (record_counts(&inside, fortran_status(error))) { \
            plan_forget(freed);                              \
            record_unlock();                                 \
        }                                                    \
    }

INIT(mpi_init_)
INIT(mpi_init_f08_)
INIT_THREAD(mpi_init_thread_)
INIT_THREAD(mpi_init_thread_f08_)
FINALIZE(mpi_finalize_)
FINALIZE(mpi_finalize_f08_)
ABORT(mpi_abort_)
ABORT(mpi_abort_f08_)
PCONTROL(mpi_pcontrol_)
PCONTROL(mpi_pcontrol_f08_)
START(mpi_start_)
START(mpi_start_f08_)
STARTALL(mpi_startall_)
STARTALL(mpi_startall_f08_)
REQUEST_FREE(mpi_request_free_)
REQUEST_FREE(mpi_request_free_f08_)
