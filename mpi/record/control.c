// SPDX-License-Identifier: BSD-3-Clause
// The calls that start, end and divide a recording, and those on requests; in C and in Fortran.
#include "record.h"

SHIM_EXPORT int MPI_Init(int* argc, char*** argv) {
    const int status = PMPI_Init(argc, argv);
    if (status == MPI_SUCCESS) record_start();
    return status;
}

SHIM_EXPORT int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    const int status = PMPI_Init_thread(argc, argv, required, provided);
    if (status == MPI_SUCCESS) record_start();
    return status;
}

SHIM_EXPORT int MPI_Finalize(void) {
    record_finish();
    return PMPI_Finalize();
}

SHIM_EXPORT int MPI_Abort(MPI_Comm comm, int code) {
    partial_write();
    return PMPI_Abort(comm, code);
}

static void enter_phase(int level) {
    if (!record_active) return;
    record_lock();
    phase_set(level);
    record_unlock();
}

SHIM_EXPORT int MPI_Pcontrol(const int level, ...) {
    enter_phase(level);
    return MPI_SUCCESS;  // the standard gives no argument that another profiler could be handed
}

SHIM_EXPORT int MPI_Start(MPI_Request* request) {
    const bool outer = record_enter();
    const MPI_Request started = *request;
    const int status = PMPI_Start(request);
    if (record_leave(outer, status)) {
        plan_play(started);
        record_unlock();
    }
    return status;
}

SHIM_EXPORT int MPI_Startall(int count, MPI_Request requests[]) {
    const bool outer = record_enter();
    const int status = PMPI_Startall(count, requests);
    if (record_leave(outer, status)) {
        for (int i = 0; i < count; ++i) plan_play(requests[i]);
        record_unlock();
    }
    return status;
}

SHIM_EXPORT int MPI_Request_free(MPI_Request* request) {
    const bool outer = record_enter();
    const MPI_Request freed = *request;
    const int status = PMPI_Request_free(request);
    if (record_leave(outer, status)) {
        plan_forget(freed);
        record_unlock();
    }
    return status;
}

// ---- Fortran: `mpi_x_` (mpif.h, use mpi) and `mpi_x_f08_` (use mpi_f08, whose error argument may be
// missing)

static void init(const char* name, MPI_Fint* error) {
    void (*call)(MPI_Fint*) = (void (*)(MPI_Fint*))(uintptr_t)next_symbol(name);
    call(error);
    if (fortran_ok(error)) record_start();
}

static void init_thread(const char* name, MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
    void (*call)(MPI_Fint*, MPI_Fint*, MPI_Fint*) =
        (void (*)(MPI_Fint*, MPI_Fint*, MPI_Fint*))(uintptr_t)next_symbol(name);
    call(required, provided, error);
    if (fortran_ok(error)) record_start();
}

static void finalize(const char* name, MPI_Fint* error) {
    record_finish();
    void (*call)(MPI_Fint*) = (void (*)(MPI_Fint*))(uintptr_t)next_symbol(name);
    call(error);
}

static void fortran_abort(const char* name, MPI_Fint* comm, MPI_Fint* code, MPI_Fint* error) {
    partial_write();
    void (*call)(MPI_Fint*, MPI_Fint*, MPI_Fint*) =
        (void (*)(MPI_Fint*, MPI_Fint*, MPI_Fint*))(uintptr_t)next_symbol(name);
    call(comm, code, error);
}

static void start(const char* name, MPI_Fint* request, MPI_Fint* error) {
    const bool outer = record_enter();
    const MPI_Request started = MPI_Request_f2c(*request);
    void (*call)(MPI_Fint*, MPI_Fint*) = (void (*)(MPI_Fint*, MPI_Fint*))(uintptr_t)next_symbol(name);
    call(request, error);
    if (record_leave(outer, fortran_ok(error) ? MPI_SUCCESS : MPI_ERR_OTHER)) {
        plan_play(started);
        record_unlock();
    }
}

static void startall(const char* name, MPI_Fint* count, MPI_Fint* requests, MPI_Fint* error) {
    const bool outer = record_enter();
    void (*call)(MPI_Fint*, MPI_Fint*, MPI_Fint*) =
        (void (*)(MPI_Fint*, MPI_Fint*, MPI_Fint*))(uintptr_t)next_symbol(name);
    call(count, requests, error);
    if (record_leave(outer, fortran_ok(error) ? MPI_SUCCESS : MPI_ERR_OTHER)) {
        for (int i = 0; i < *count; ++i) plan_play(MPI_Request_f2c(requests[i]));
        record_unlock();
    }
}

static void request_free(const char* name, MPI_Fint* request, MPI_Fint* error) {
    const bool outer = record_enter();
    const MPI_Request freed = MPI_Request_f2c(*request);
    void (*call)(MPI_Fint*, MPI_Fint*) = (void (*)(MPI_Fint*, MPI_Fint*))(uintptr_t)next_symbol(name);
    call(request, error);
    if (record_leave(outer, fortran_ok(error) ? MPI_SUCCESS : MPI_ERR_OTHER)) {
        plan_forget(freed);
        record_unlock();
    }
}

#define INT MPI_Fint*
SHIM_EXPORT void mpi_init_(INT error) { init("mpi_init_", error); }
SHIM_EXPORT void mpi_init_f08_(INT error) { init("mpi_init_f08_", error); }
SHIM_EXPORT void mpi_init_thread_(INT need, INT got, INT error) {
    init_thread("mpi_init_thread_", need, got, error);
}
SHIM_EXPORT void mpi_init_thread_f08_(INT need, INT got, INT error) {
    init_thread("mpi_init_thread_f08_", need, got, error);
}
SHIM_EXPORT void mpi_finalize_(INT error) { finalize("mpi_finalize_", error); }
SHIM_EXPORT void mpi_finalize_f08_(INT error) { finalize("mpi_finalize_f08_", error); }
SHIM_EXPORT void mpi_abort_(INT comm, INT code, INT error) { fortran_abort("mpi_abort_", comm, code, error); }
SHIM_EXPORT void mpi_abort_f08_(INT comm, INT code, INT error) {
    fortran_abort("mpi_abort_f08_", comm, code, error);
}
SHIM_EXPORT void mpi_pcontrol_(INT level) { enter_phase(*level); }
SHIM_EXPORT void mpi_pcontrol_f08_(INT level) { enter_phase(*level); }
SHIM_EXPORT void mpi_start_(INT request, INT error) { start("mpi_start_", request, error); }
SHIM_EXPORT void mpi_start_f08_(INT request, INT error) { start("mpi_start_f08_", request, error); }
SHIM_EXPORT void mpi_startall_(INT count, INT all, INT error) {
    startall("mpi_startall_", count, all, error);
}
SHIM_EXPORT void mpi_startall_f08_(INT count, INT all, INT error) {
    startall("mpi_startall_f08_", count, all, error);
}
SHIM_EXPORT void mpi_request_free_(INT request, INT error) {
    request_free("mpi_request_free_", request, error);
}
SHIM_EXPORT void mpi_request_free_f08_(INT request, INT error) {
    request_free("mpi_request_free_f08_", request, error);
}
