// SPDX-License-Identifier: BSD-3-Clause
// Executes commands of `topoloom machine probe` one after another.
//
// Usage: probe FOLDER. Files in the folder: `orders` (input) receives commands until the line `end`; `ranks` has a line with host,
// CPUs and MPI per rank; `results` has the blocks described in results.h.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "ranks.h"
#include "rounds.h"

static char* format_path(const char* folder, const char* name) {
    char* path = NULL;
    if (asprintf(&path, "%s/%s", folder, name) < 0) abort();
    return path;
}

static void execute_commands(struct probe* probe, const char* folder) {
    char *file = format_path(folder, "orders"), *results = format_path(folder, "results");
    struct commands commands = {0};
    for (int more = 1; more && read_commands(&commands, file);) {
        for (int i = 0; i < commands.count && more; ++i) {
            if (strcmp(commands.lines[i], "end") == 0)
                more = 0;
            else if (!execute_command(probe, commands.lines[i]))
                MPI_Abort(MPI_COMM_WORLD, 2);
        }
        write_results(&probe->results, probe->commands, probe->measured, results);
        probe->measured = 0;
    }
    free_commands(&commands);
    free(results);
    free(file);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
    struct probe probe = {.sampling = {.min_count = 5, .max_count = 100, .width = 0.05, .seconds = 1}};
    MPI_Comm_rank(MPI_COMM_WORLD, &probe.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &probe.ranks);
    char* ranks = format_path(argv[1], "ranks");
    write_ranks(ranks);
    free(ranks);
    execute_commands(&probe, argv[1]);
    free_probe(&probe);
    return MPI_Finalize();
}
