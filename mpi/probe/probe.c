// SPDX-License-Identifier: BSD-3-Clause
// Executes orders one by one.
//
// Usage: probe FOLDER. Its files: `orders` grows until the line `end`; `ranks` has a line with host, CPUs and MPI of each
// rank; `results` has the blocks that results.h describes.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "orders.h"
#include "ranks.h"
#include "rounds.h"

static char* make_path(const char* folder, const char* name) {
    char* path = NULL;
    if (asprintf(&path, "%s/%s", folder, name) < 0) abort();
    return path;
}

static void execute_orders(struct probe* probe, const char* folder) {
    char *file = make_path(folder, "orders"), *results = make_path(folder, "results");
    struct orders orders = {0};
    for (int more = 1; more && read_orders(&orders, file);) {
        for (int i = 0; i < orders.count && more; ++i) {
            if (strcmp(orders.lines[i], "end") == 0)
                more = 0;
            else if (!execute_order(probe, orders.lines[i]))
                MPI_Abort(MPI_COMM_WORLD, 2);
        }
        write_results(&probe->results, probe->orders, probe->measured, results);
        probe->measured = 0;
    }
    free_orders(&orders);
    free(results);
    free(file);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
    struct probe probe = {.sampling = {.min_count = 5, .max_count = 100, .width = 0.05, .seconds = 1}};
    MPI_Comm_rank(MPI_COMM_WORLD, &probe.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &probe.ranks);
    char* ranks = make_path(argv[1], "ranks");
    write_ranks(ranks);
    free(ranks);
    execute_orders(&probe, argv[1]);
    free_probe(&probe);
    return MPI_Finalize();
}
