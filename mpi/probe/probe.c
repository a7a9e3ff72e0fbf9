// SPDX-License-Identifier: BSD-3-Clause
// Measures what it is asked for, order after order.
//
// Usage: probe FOLDER. Files in it: `orders`, which grows until there is the line `end`; `ranks`, a line with the host
// and the CPUs of each rank; `answers`, of answers.h.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "orders.h"
#include "ranks.h"
#include "rounds.h"

static char* path_of(const char* folder, const char* name) {
    char* path = NULL;
    if (asprintf(&path, "%s/%s", folder, name) < 0) abort();
    return path;
}

static void measure(struct probe* probe, const char* folder) {
    char *file = path_of(folder, "orders"), *answers = path_of(folder, "answers");
    struct orders orders = {0};
    for (int more = 1; more && read_orders(&orders, file);) {
        for (int i = 0; i < orders.count && more; ++i) {
            if (strcmp(orders.each[i], "end") == 0)
                more = 0;
            else if (!carry_out(probe, orders.each[i]))
                MPI_Abort(MPI_COMM_WORLD, 2);
        }
        write_answers(&probe->answers, probe->orders, probe->measured, answers);
        probe->measured = 0;
    }
    free_orders(&orders);
    free(answers);
    free(file);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
    struct probe probe = {.sampling = {.least = 5, .most = 100, .width = 0.05, .seconds = 1}};
    MPI_Comm_rank(MPI_COMM_WORLD, &probe.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &probe.ranks);
    char* ranks = path_of(argv[1], "ranks");
    write_ranks(ranks);
    free(ranks);
    measure(&probe, argv[1]);
    free_probe(&probe);
    return MPI_Finalize();
}
