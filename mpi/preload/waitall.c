// SPDX-License-Identifier: BSD-3-Clause
// Works around a bug of MPICH: MPI_Waitall aborts for an array with both generalized and null requests (4.0: assertion
// in MPIR_Waitall_state). While generalized requests exist, the wrapper removes null requests from the array.
#include <stdlib.h>

#include "generalized_requests.h"
#include "preload.h"

#ifndef OPEN_MPI
typedef int waitall_function(int count, MPI_Request requests[], MPI_Status statuses[]);

static int wait_for_non_null_requests(waitall_function* next, int count, MPI_Request requests[],
                                      MPI_Status statuses[]) {
    const bool has_statuses = statuses != MPI_STATUSES_IGNORE;
    MPI_Request* active = malloc((size_t)count * sizeof *active);
    MPI_Status* active_statuses = malloc((size_t)count * sizeof *active_statuses);
    int* indices = malloc((size_t)count * sizeof *indices);
    int left = 0, status = MPI_ERR_NO_MEM;
    if (active != NULL && active_statuses != NULL && indices != NULL) {
        for (int i = 0; i < count; ++i) {
            if (requests[i] == MPI_REQUEST_NULL) {
                if (has_statuses) set_empty_status(&statuses[i]);
                continue;
            }
            indices[left] = i;
            if (has_statuses) active_statuses[left] = statuses[i];  // MPI may leave members of a status unset
            active[left++] = requests[i];
        }
        status = next(left, active, has_statuses ? active_statuses : MPI_STATUSES_IGNORE);
        for (int i = 0; i < left; ++i) {
            requests[indices[i]] = active[i];
            if (has_statuses) statuses[indices[i]] = active_statuses[i];
        }
    }
    free(active);
    free(active_statuses);
    free(indices);
    return status;
}

static bool has_null_request(int count, const MPI_Request requests[]) {
    for (int i = 0; i < count; ++i)
        if (requests[i] == MPI_REQUEST_NULL) return true;
    return false;
}

static int wait_for_requests(waitall_function* next, int count, MPI_Request requests[],
                             MPI_Status statuses[]) {
    const bool is_safe = atomic_load_explicit(&generalized_requests, memory_order_relaxed) == 0 ||
                         count <= 0 || requests == NULL || !has_null_request(count, requests);
    return is_safe ? next(count, requests, statuses)
                   : wait_for_non_null_requests(next, count, requests, statuses);
}

SHIM_EXPORT int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    NEXT_OF(MPI_Waitall);
    return wait_for_requests(next, count, requests, statuses);
}

// Called by the bindings of mpi_f08.
SHIM_EXPORT int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    NEXT_OF(PMPI_Waitall);
    return wait_for_requests(next, count, requests, statuses);
}
#endif
