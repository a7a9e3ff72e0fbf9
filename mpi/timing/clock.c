// SPDX-License-Identifier: BSD-3-Clause
#include "clock.h"

#include <stddef.h>

enum { round_trips = 16 };

static int answer_offset_requests(MPI_Comm comm, int child, int tag) {
    int status = MPI_SUCCESS;
    for (int i = 0; i < round_trips && status == MPI_SUCCESS; ++i) {
        status = PMPI_Recv(NULL, 0, MPI_BYTE, child, tag, comm, MPI_STATUS_IGNORE);
        double now = PMPI_Wtime();
        if (status == MPI_SUCCESS) status = PMPI_Send(&now, 1, MPI_DOUBLE, child, tag, comm);
    }
    return status;
}

/// Estimates the offset of this rank's clock from its parent's clock. Uses the fastest round trip, which
/// gives the tightest bound on the difference between the delays of the two directions.
static int estimate_offset(MPI_Comm comm, int parent, int tag, double* ahead) {
    double fastest = -1;
    for (int i = 0; i < round_trips; ++i) {
        double parent_time = 0;
        const double begin = PMPI_Wtime();
        int status = PMPI_Send(NULL, 0, MPI_BYTE, parent, tag, comm);
        if (status == MPI_SUCCESS)
            status = PMPI_Recv(&parent_time, 1, MPI_DOUBLE, parent, tag, comm, MPI_STATUS_IGNORE);
        if (status != MPI_SUCCESS) return status;
        const double end = PMPI_Wtime();
        if (fastest >= 0 && end - begin >= fastest) continue;
        fastest = end - begin;
        *ahead = (begin + end) / 2 - parent_time;
    }
    return MPI_SUCCESS;
}

static int compute_offset(MPI_Comm comm, int tag, double* offset) {
    int rank = 0, ranks = 1, step = 1, status = MPI_SUCCESS;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    double ahead = 0;
    for (; step < ranks && status == MPI_SUCCESS; step *= 2) {
        if (rank % (2 * step) == step) {
            status = estimate_offset(comm, rank - step, tag, &ahead);
            break;
        }
        if (rank + step < ranks) status = answer_offset_requests(comm, rank + step, tag);
    }
    *offset = 0;
    if (rank > 0 && status == MPI_SUCCESS)
        status = PMPI_Recv(offset, 1, MPI_DOUBLE, rank - step, tag, comm, MPI_STATUS_IGNORE);
    *offset += ahead;
    for (step /= 2; step > 0 && status == MPI_SUCCESS; step /= 2)
        if (rank + step < ranks) status = PMPI_Send(offset, 1, MPI_DOUBLE, rank + step, tag, comm);
    return status;
}

static bool is_wtime_global(MPI_Comm comm) {
    int* global = NULL;
    int found = 0;
    PMPI_Comm_get_attr(comm, MPI_WTIME_IS_GLOBAL, (void*)&global, &found);
    return found && *global;
}

int sync_clocks(struct common_clock* clock, MPI_Comm comm, int tag) {
    double offset = 0;
    if (!is_wtime_global(comm)) {
        const int status = compute_offset(comm, tag, &offset);
        if (status != MPI_SUCCESS) return status;
    }
    clock->at = PMPI_Wtime();
    clock->offset = offset;
    if (!clock->synced) {
        clock->first_at = clock->at;
        clock->first_offset = offset;
        clock->synced = true;
    } else {
        clock->drift = (offset - clock->first_offset) / (clock->at - clock->first_at);
    }
    return MPI_SUCCESS;
}

double to_common_time(const struct common_clock* clock, double local) {
    return local - clock->offset - clock->drift * (local - clock->at);
}

double to_local_time(const struct common_clock* clock, double common) {
    return clock->at + (common + clock->offset - clock->at) / (1 - clock->drift);
}
