// SPDX-License-Identifier: BSD-3-Clause
// Measures noise with fixed work quanta (Sottile and Minnich, "Analysis of microbenchmarks for performance
// tuning of clusters", CLUSTER 2004).
#include "noise.h"

#include <mpi.h>
#include <stdlib.h>

enum { steps = 4000 };  // number of loop iterations in a quantum; a quantum takes some microseconds

void measure_noise(struct probe* probe, int quanta) {
#ifdef SMPI_H  // computation takes no simulated time
    quanta = 0;
#endif
    double* durations = malloc((size_t)quanta * sizeof *durations);
    if (durations == NULL || quanta < 1) {
        free(durations);
        return;
    }
    volatile unsigned work = 1;
    double sum = 0;
    for (int i = 0; i < quanta; ++i) {
        const double begin = MPI_Wtime();
        for (int step = 0; step < steps; ++step) work = work * 1664525U + 1013904223U;
        durations[i] = MPI_Wtime() - begin;
        sum += durations[i];
    }
    sort_seconds(durations, quanta);
    begin_record(&probe->results, (struct exchange_record){
                                      .order = probe->commands, .first = probe->rank, .second = probe->rank});
    const double statistics[] = {durations[0], durations[quanta / 2], sum / quanta, durations[quanta - 1]};
    for (size_t i = 0; i < sizeof statistics / sizeof *statistics; ++i)
        add_result(&probe->results, statistics[i]);
    free(durations);
}
