// SPDX-License-Identifier: BSD-3-Clause
// Wrappers that calls.txt cannot express: start, end and phases of a recording, and requests. See wrappers_fortran.c
// for their Fortran versions.
#include <stdarg.h>

#include "record.h"

// The outermost call starts the recording, so that messages sent by tools during MPI_Init are not recorded.
#define INIT(mpi_function)                                               \
    SHIM_EXPORT int mpi_function(int* argc, char*** argv) {              \
        NEXT(mpi_function, int (*)(int*, char***));                      \
        ENTER_CALL(enter_call());                                        \
        const int status = next(argc, argv);                             \
        if (scope.outermost && status == MPI_SUCCESS) start_recording(); \
        return status;                                                   \
    }
#define INIT_THREAD(mpi_function)                                                        \
    SHIM_EXPORT int mpi_function(int* argc, char*** argv, int required, int* provided) { \
        NEXT(mpi_function, int (*)(int*, char***, int, int*));                           \
        ENTER_CALL(enter_call());                                                        \
        const int status = next(argc, argv, required, provided);                         \
        if (scope.outermost && status == MPI_SUCCESS) start_recording();                 \
        return status;                                                                   \
    }
#define FINALIZE(mpi_function)             \
    SHIM_EXPORT int mpi_function(void) {   \
        NEXT(mpi_function, int (*)(void)); \
        finish_recording();                \
        return next();                     \
    }
#define ABORT(mpi_function)                                 \
    SHIM_EXPORT int mpi_function(MPI_Comm comm, int code) { \
        NEXT(mpi_function, int (*)(MPI_Comm, int));         \
        dump_and_notify("abort", code);                     \
        return next(comm, code);                            \
    }
INIT(MPI_Init)
INIT(PMPI_Init)
INIT_THREAD(MPI_Init_thread)
INIT_THREAD(PMPI_Init_thread)
FINALIZE(MPI_Finalize)
FINALIZE(PMPI_Finalize)
ABORT(MPI_Abort)
ABORT(PMPI_Abort)

#ifdef MPI_SESSION_NULL
#define SESSION_INIT(mpi_function)                                                              \
    SHIM_EXPORT int mpi_function(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) { \
        NEXT(mpi_function, int (*)(MPI_Info, MPI_Errhandler, MPI_Session*));                    \
        log_status("sessions\n");                                                               \
        return next(info, handler, session);                                                    \
    }
SESSION_INIT(MPI_Session_init)
SESSION_INIT(PMPI_Session_init)
#endif

void enter_phase(int level) {
    if (!record_active) return;
    lock_recording();
    set_phase(level);
    unlock_recording();
}

// Tools define additional arguments, such as the name of a phase. Their number is unknown; arguments that fit into
// registers are passed unchanged.
#define PCONTROL(mpi_function)                                                                          \
    SHIM_EXPORT int mpi_function(const int level, ...) {                                                \
        NEXT(mpi_function, int (*)(int, ...));                                                          \
        ENTER_CALL(enter_call());                                                                       \
        if (scope.outermost) enter_phase(level);                                                        \
        va_list more;                                                                                   \
        va_start(more, level);                                                                          \
        void *first = va_arg(more, void*), *second = va_arg(more, void*), *third = va_arg(more, void*); \
        va_end(more);                                                                                   \
        return next(level, first, second, third);                                                       \
    }
PCONTROL(MPI_Pcontrol)
PCONTROL(PMPI_Pcontrol)

#define REQUEST_CALL(mpi_function, enter, record)        \
    SHIM_EXPORT int mpi_function(MPI_Request* request) { \
        NEXT(mpi_function, int (*)(MPI_Request*));       \
        ENTER_CALL(enter);                               \
        const MPI_Request original_request = *request;   \
        const int status = next(request);                \
        if (lock_if_recorded(&scope, status)) {          \
            record(original_request);                    \
            unlock_recording();                          \
        }                                                \
        return status;                                   \
    }
#define STARTALL(mpi_function, enter)                                          \
    SHIM_EXPORT int mpi_function(int count, MPI_Request requests[]) {          \
        NEXT(mpi_function, int (*)(int, MPI_Request[]));                       \
        ENTER_CALL(enter);                                                     \
        const int status = next(count, requests);                              \
        if (lock_if_recorded(&scope, status)) {                                \
            for (int i = 0; i < count; ++i) record_request_start(requests[i]); \
            unlock_recording();                                                \
        }                                                                      \
        return status;                                                         \
    }
REQUEST_CALL(MPI_Start, enter_call(), record_request_start)
REQUEST_CALL(PMPI_Start, enter_pmpi_call(CALLER), record_request_start)
STARTALL(MPI_Startall, enter_call())
STARTALL(PMPI_Startall, enter_pmpi_call(CALLER))
REQUEST_CALL(MPI_Request_free, enter_call(), remove_request)
REQUEST_CALL(PMPI_Request_free, enter_pmpi_call(CALLER), remove_request)
