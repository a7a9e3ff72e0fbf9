// SPDX-License-Identifier: BSD-3-Clause
// The calls that start, end and divide a recording, and those on requests; control_fortran.c has Fortran's.
#include <stdarg.h>

#include "record.h"

// What a tool behind us sends itself while it starts is not the program's: the outermost call starts the recording.
#define INIT(name)                                                 \
    SHIM_EXPORT int name(int* argc, char*** argv) {                \
        NEXT(name, int (*)(int*, char***));                        \
        RECORD_ENTER(record_enter());                              \
        const int status = next(argc, argv);                       \
        if (inside.outer && status == MPI_SUCCESS) record_start(); \
        return status;                                             \
    }
#define INIT_THREAD(name)                                                        \
    SHIM_EXPORT int name(int* argc, char*** argv, int required, int* provided) { \
        NEXT(name, int (*)(int*, char***, int, int*));                           \
        RECORD_ENTER(record_enter());                                            \
        const int status = next(argc, argv, required, provided);                 \
        if (inside.outer && status == MPI_SUCCESS) record_start();               \
        return status;                                                           \
    }
#define FINALIZE(name)             \
    SHIM_EXPORT int name(void) {   \
        NEXT(name, int (*)(void)); \
        record_finish();           \
        return next();             \
    }
#define ABORT(name)                                 \
    SHIM_EXPORT int name(MPI_Comm comm, int code) { \
        NEXT(name, int (*)(MPI_Comm, int));         \
        partial_leave("abort", code);               \
        return next(comm, code);                    \
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
#define SESSION_INIT(name)                                                              \
    SHIM_EXPORT int name(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) { \
        NEXT(name, int (*)(MPI_Info, MPI_Errhandler, MPI_Session*));                    \
        mark("sessions\n");                                                             \
        return next(info, handler, session);                                            \
    }
SESSION_INIT(MPI_Session_init)
SESSION_INIT(PMPI_Session_init)
#endif

void enter_phase(int level) {
    if (!record_active) return;
    record_lock();
    phase_set(level);
    record_unlock();
}

// Tools interpret further arguments by their own rules, such as the name of a phase. Their number is unknown; those
// passed in registers are handed on unchanged.
#define PCONTROL(name)                                                                                  \
    SHIM_EXPORT int name(const int level, ...) {                                                        \
        NEXT(name, int (*)(int, ...));                                                                  \
        RECORD_ENTER(record_enter());                                                                   \
        if (inside.outer) enter_phase(level);                                                           \
        va_list more;                                                                                   \
        va_start(more, level);                                                                          \
        void *first = va_arg(more, void*), *second = va_arg(more, void*), *third = va_arg(more, void*); \
        va_end(more);                                                                                   \
        return next(level, first, second, third);                                                       \
    }
PCONTROL(MPI_Pcontrol)
PCONTROL(PMPI_Pcontrol)

#define START(name, enter)                       \
    SHIM_EXPORT int name(MPI_Request* request) { \
        NEXT(name, int (*)(MPI_Request*));       \
        RECORD_ENTER(enter);                     \
        const MPI_Request started = *request;    \
        const int status = next(request);        \
        if (record_counts(&inside, status)) {    \
            plan_play(started);                  \
            record_unlock();                     \
        }                                        \
        return status;                           \
    }
#define STARTALL(name, enter)                                       \
    SHIM_EXPORT int name(int count, MPI_Request requests[]) {       \
        NEXT(name, int (*)(int, MPI_Request[]));                    \
        RECORD_ENTER(enter);                                        \
        const int status = next(count, requests);                   \
        if (record_counts(&inside, status)) {                       \
            for (int i = 0; i < count; ++i) plan_play(requests[i]); \
            record_unlock();                                        \
        }                                                           \
        return status;                                              \
    }
#define REQUEST_FREE(name, enter)                \
    SHIM_EXPORT int name(MPI_Request* request) { \
        NEXT(name, int (*)(MPI_Request*));       \
        RECORD_ENTER(enter);                     \
        const MPI_Request freed = *request;      \
        const int status = next(request);        \
        if (record_counts(&inside, status)) {    \
            plan_forget(freed);                  \
            record_unlock();                     \
        }                                        \
        return status;                           \
    }
START(MPI_Start, record_enter())
START(PMPI_Start, record_enter_from(CALLER))
STARTALL(MPI_Startall, record_enter())
STARTALL(PMPI_Startall, record_enter_from(CALLER))
REQUEST_FREE(MPI_Request_free, record_enter())
REQUEST_FREE(PMPI_Request_free, record_enter_from(CALLER))
