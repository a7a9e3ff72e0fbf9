// SPDX-License-Identifier: BSD-3-Clause
// Fixed work quanta (Sottile and Minnich, "Analysis of microbenchmarks for performance tuning of clusters", CLUSTER 2004).
#include "noise.h"

#include <mpi.h>
#include <stdlib.h>

enum { steps = 4000 };  // per quantum: some microseconds

void measure_noise(struct probe* probe, int quanta) {
#ifdef SMPI_H  // computation takes no simulated time
    quanta = 0;
#endif
    double* taken = malloc((size_t)quanta * sizeof *taken);
    if (taken == NULL || quanta < 1) {
        free(taken);
        return;
    }
    volatile unsigned work = 1;
    double sum = 0;
    for (int i = 0; i < quanta; ++i) {
        const double begin = MPI_Wtime();
        for (int step = 0; step < steps; ++step) work = work * 1664525U + 1013904223U;
        taken[i] = MPI_Wtime() - begin;
        sum += taken[i];
    }
    sort_seconds(taken, quanta);
    begin_record(&probe->results, (struct exchange_record){
                                      .order = probe->orders, .first = probe->rank, .second = probe->rank});
    const double statistics[] = {taken[0], taken[quanta / 2], sum / quanta, taken[quanta - 1]};
    for (size_t i = 0; i < sizeof statistics / sizeof *statistics; ++i)
        add_result(&probe->results, statistics[i]);
    free(taken);
}
