// SPDX-License-Identifier: BSD-3-Clause
// Finds the fastest of several communicators by measurement.
#include <stdlib.h>

#include "common_start.h"
#include "remap.h"

static int compare_doubles(const void* a, const void* b) {
    const double left = *(const double*)a, right = *(const double*)b;
    return (left > right) - (left < right);
}

double find_median(double values[], size_t count) {
    qsort(values, count, sizeof *values, compare_doubles);
    return values[count / 2];
}

/// Fills samples[c * repeats + turn] with the seconds of candidate c. Measures candidates alternately, so
/// that temporary disturbances affect all of them.
static void measure_candidates(MPI_Comm comm, const MPI_Comm candidates[],
                               const struct order_options* options, struct buffers* buffers,
                               double* samples) {
    struct common_start start = make_common_start(comm);
    set_block(buffers, options->operation, options->bytes);
    for (int c = 0; c < options->order_count; ++c) {  // warm up: first calls set up connections
        buffers->comm = candidates[c];
        options->operation->run(buffers);
    }
    for (int turn = 0; turn < options->repeats; ++turn) {
        resync_clocks(&start);
        for (int c = 0; c < options->order_count; ++c) {
            buffers->comm = candidates[c];
            samples[c * options->repeats + turn] = time_collective(&start, options->operation->run, buffers);
        }
    }
}

int find_fastest(MPI_Comm comm, const char* name, const MPI_Comm candidates[],
                 const struct order_options* options, int* fastest, int64_t nanoseconds[]) {
    int size = 0;
    PMPI_Comm_size(comm, &size);
    const size_t repeats = (size_t)options->repeats, count = (size_t)options->order_count;
    struct buffers buffers;
    double* samples = malloc(count * repeats * sizeof *samples);
    const bool has_buffers = make_buffers(&buffers, options->operation, (size_t)options->bytes, size);
    int status = raise_on_exhausted_memory(comm, name, has_buffers && samples != NULL);
    if (status == MPI_SUCCESS) {
        measure_candidates(comm, candidates, options, &buffers, samples);
        for (size_t c = 0; c < count; ++c)
            nanoseconds[c] = (int64_t)(1e9 * find_median(samples + c * repeats, repeats));
        // reduce integers, so that all ranks choose the same candidate
        status = PMPI_Allreduce(MPI_IN_PLACE, nanoseconds, (int)count, MPI_INT64_T, MPI_MAX, comm);
    }
    *fastest = 0;
    for (int c = 1; status == MPI_SUCCESS && c < options->order_count; ++c)
        if (nanoseconds[c] < nanoseconds[*fastest]) *fastest = c;
    free_buffers(&buffers);
    free(samples);
    return status;
}
