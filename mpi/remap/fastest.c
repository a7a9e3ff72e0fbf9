// SPDX-License-Identifier: BSD-3-Clause
// The best of several communicators, by measurement.
#include <stdlib.h>

#include "common_start.h"
#include "remap.h"

static double seconds_of(const struct operation* operation, struct buffers* buffers, struct start* start) {
    for (;;) {
        int came_late = 0;
        const double began = start_together(start, &came_late);
        operation->run(buffers);
        const double seconds = end_together(start, began, came_late);
        if (seconds >= 0) return seconds;
    }
}

static int compare(const void* a, const void* b) {
    const double left = *(const double*)a, right = *(const double*)b;
    return (left > right) - (left < right);
}

/// In turns, so that what disturbs a machine for a while disturbs all candidates; samples[c * repeats + turn].
static void run_all(MPI_Comm comm, const MPI_Comm candidates[], const struct order_options* options,
                    struct buffers* buffers, double* samples) {
    struct start start = make_start(comm);
    set_block(buffers, options->operation, options->bytes);
    for (int c = 0; c < options->order_count; ++c) {  // first calls make connections
        buffers->comm = candidates[c];
        options->operation->run(buffers);
    }
    for (int turn = 0; turn < options->repeats; ++turn) {
        compare_again(&start);
        for (int c = 0; c < options->order_count; ++c) {
            buffers->comm = candidates[c];
            samples[c * options->repeats + turn] = seconds_of(options->operation, buffers, &start);
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
    const bool enough = make_buffers(&buffers, options->operation, (size_t)options->bytes, size);
    int status = agree_on_memory(comm, name, enough && samples != NULL);
    if (status == MPI_SUCCESS) {
        run_all(comm, candidates, options, &buffers, samples);
        for (size_t c = 0; c < count; ++c) {
            qsort(samples + c * repeats, repeats, sizeof *samples, compare);
            nanoseconds[c] = (int64_t)(1e9 * samples[c * repeats + repeats / 2]);
        }
        // Integers, which are the same everywhere, make the same choice everywhere.
        status = PMPI_Allreduce(MPI_IN_PLACE, nanoseconds, (int)count, MPI_INT64_T, MPI_MAX, comm);
    }
    *fastest = 0;
    for (int c = 1; status == MPI_SUCCESS && c < options->order_count; ++c)
        if (nanoseconds[c] < nanoseconds[*fastest]) *fastest = c;
    free_buffers(&buffers);
    free(samples);
    return status;
}
