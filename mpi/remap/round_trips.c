// SPDX-License-Identifier: BSD-3-Clause
// Measures the message time between each pair of processes.
#include <stdlib.h>

#include "remap.h"

enum { round_trip_count = 11 };

/// Measures the seconds per message to `peer`, which calls answer_round_trips. The first round trip sets up the
/// connection, and is not counted.
static int time_round_trips(MPI_Comm comm, int peer, char* message, int bytes, double* seconds) {
    double seconds_per_trip[round_trip_count];
    for (int i = -1; i < round_trip_count; ++i) {
        const double begin = PMPI_Wtime();
        int status = PMPI_Send(message, bytes, MPI_BYTE, peer, 0, comm);
        if (status == MPI_SUCCESS)
            status = PMPI_Recv(message, bytes, MPI_BYTE, peer, 0, comm, MPI_STATUS_IGNORE);
        if (status != MPI_SUCCESS) return status;
        if (i >= 0) seconds_per_trip[i] = PMPI_Wtime() - begin;
    }
    *seconds = find_median(seconds_per_trip, round_trip_count) / 2;
    return MPI_SUCCESS;
}

static int answer_round_trips(MPI_Comm comm, int peer, char* message, int bytes) {
    for (int i = -1; i < round_trip_count; ++i) {
        int status = PMPI_Recv(message, bytes, MPI_BYTE, peer, 0, comm, MPI_STATUS_IGNORE);
        if (status == MPI_SUCCESS) status = PMPI_Send(message, bytes, MPI_BYTE, peer, 0, comm);
        if (status != MPI_SUCCESS) return status;
    }
    return MPI_SUCCESS;
}

/// Measures the message times between this rank and all others. Each rank in turn measures with all higher ranks, which
/// wait, so that only one pair sends at a time.
static int measure_own_row(MPI_Comm comm, int rank, int size, char* message, int bytes, double* own_times) {
    int status = MPI_SUCCESS;
    for (int lower = 0; lower < rank && status == MPI_SUCCESS; ++lower) {
        status = answer_round_trips(comm, lower, message, bytes);
        if (status == MPI_SUCCESS) status = time_round_trips(comm, lower, message, bytes, &own_times[lower]);
    }
    if (rank > 0 && status == MPI_SUCCESS)
        status = PMPI_Recv(NULL, 0, MPI_BYTE, rank - 1, 1, comm, MPI_STATUS_IGNORE);
    for (int higher = rank + 1; higher < size && status == MPI_SUCCESS; ++higher) {
        status = time_round_trips(comm, higher, message, bytes, &own_times[higher]);
        if (status == MPI_SUCCESS) status = answer_round_trips(comm, higher, message, bytes);
    }
    if (rank + 1 < size && status == MPI_SUCCESS) status = PMPI_Send(NULL, 0, MPI_BYTE, rank + 1, 1, comm);
    return status;
}

int measure_message_times(MPI_Comm comm, const char* name, int bytes, double* seconds) {
    int rank = 0, size = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    char* message = calloc(1, (size_t)bytes);
    double* own_times = calloc((size_t)size, sizeof *own_times);
    int status = raise_on_exhausted_memory(comm, name, message != NULL && own_times != NULL);
    if (status == MPI_SUCCESS) status = measure_own_row(comm, rank, size, message, bytes, own_times);
    if (status == MPI_SUCCESS)
        status = PMPI_Gather(own_times, size, MPI_DOUBLE, seconds, size, MPI_DOUBLE, 0, comm);
    free(message);
    free(own_times);
    return status;
}
