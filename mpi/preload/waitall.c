// SPDX-License-Identifier: BSD-3-Clause
// Keeps null requests from MPI_Waitall of the MPICH family while there are stand-ins: it ends programs that wait for a generalized
// request beside a null one (MPICH 4.0: an assertion in MPIR_Waitall_state).
#include <stdlib.h>

#include "preload.h"
#include "stand_in.h"

#ifndef OPEN_MPI
typedef int wait_for_all(int count, MPI_Request requests[], MPI_Status statuses[]);

static int wait_without_nulls(wait_for_all* next, int count, MPI_Request requests[], MPI_Status statuses[]) {
    const bool wants = statuses != MPI_STATUSES_IGNORE;
    MPI_Request* active = malloc((size_t)count * sizeof *active);
    MPI_Status* of_active = malloc((size_t)count * sizeof *of_active);
    int* places = malloc((size_t)count * sizeof *places);
    int left = 0, status = MPI_ERR_NO_MEM;
    if (active != NULL && of_active != NULL && places != NULL) {
        for (int i = 0; i < count; ++i) {
            if (requests[i] == MPI_REQUEST_NULL) {
                if (wants) set_empty_status(&statuses[i]);
                continue;
            }
            places[left] = i;
            if (wants) of_active[left] = statuses[i];  // what MPI does not set stays
            active[left++] = requests[i];
        }
        status = next(left, active, wants ? of_active : MPI_STATUSES_IGNORE);
        for (int i = 0; i < left; ++i) {
            requests[places[i]] = active[i];
            if (wants) statuses[places[i]] = of_active[i];
        }
    }
    free(active);
    free(of_active);
    free(places);
    return status;
}

static bool has_null(int count, const MPI_Request requests[]) {
    for (int i = 0; i < count; ++i)
        if (requests[i] == MPI_REQUEST_NULL) return true;
    return false;
}

static int wait_by(wait_for_all* next, int count, MPI_Request requests[], MPI_Status statuses[]) {
    const bool is_safe = atomic_load_explicit(&stand_ins, memory_order_relaxed) == 0 || count <= 0 ||
                         requests == NULL || !has_null(count, requests);
    return is_safe ? next(count, requests, statuses) : wait_without_nulls(next, count, requests, statuses);
}

SHIM_EXPORT int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    DEFINITION(MPI_Waitall);
    return wait_by(next, count, requests, statuses);
}

// By which the bindings of mpi_f08 come.
SHIM_EXPORT int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    DEFINITION(PMPI_Waitall);
    return wait_by(next, count, requests, statuses);
}
#endif
