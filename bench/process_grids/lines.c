// SPDX-License-Identifier: BSD-3-Clause
// Times collectives on the rows and then on the columns of a grid, in the default order and in tiles, and writes JSON Lines.
//
// Usage: lines ROWS COLUMNS BYTES MACHINE, a machine file. Each line has BYTES in all at its first rank. The library's own
// collectives run on communicators that are split; ours, by schedules that are named and by our choice, on the grid.
// All ranks start at the same time of MPI's clock, which must be the same everywhere, and a collective takes until the
// last of them has ended.
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "common_start.h"
#include "topoloom_grid.h"

static int rank, ranks;

struct grid {
    topoloom_grid made;
    int extents[2], coords[2];
    MPI_Comm lines[2];
};

static struct grid make_grid(const int extents[2], const int order[], const char* schedule,
                             const char* machine) {
    struct grid grid = {.extents = {extents[0], extents[1]}};
    char setting[512];
    snprintf(setting, sizeof setting, "machine=%s%s%s", machine,
             schedule[0] == '\0' ? "" : ";schedule=", schedule);
    setenv("TOPOLOOM_COLLECTIVES", setting, 1);
    topoloom_grid_create(MPI_COMM_WORLD, 2, extents, order, &grid.made);
    topoloom_grid_coords(grid.made, rank, grid.coords);
    for (int d = 0; d < 2; ++d)
        MPI_Comm_split(MPI_COMM_WORLD, grid.coords[1 - d], grid.coords[d], &grid.lines[d]);
    return grid;
}

static void free_grid(struct grid* grid) {
    topoloom_grid_free(&grid->made);
    for (int d = 0; d < 2; ++d) MPI_Comm_free(&grid->lines[d]);
}

enum operation { broadcast, gather, scatter };

struct buffers {
    char *whole, *block;
    int bytes;
};

static void call(enum operation operation, bool library, const struct grid* grid, int d,
                 const struct buffers* at) {
    const int part = at->bytes / grid->extents[d];
    const MPI_Comm line = grid->lines[d];
    if (operation == broadcast) {
        if (library)
            MPI_Bcast(at->whole, at->bytes, MPI_BYTE, 0, line);
        else
            topoloom_line_bcast(at->whole, at->bytes, MPI_BYTE, 0, grid->made, d);
    } else if (operation == gather) {
        if (library)
            MPI_Gather(at->block, part, MPI_BYTE, at->whole, part, MPI_BYTE, 0, line);
        else
            topoloom_line_gather(at->block, part, MPI_BYTE, at->whole, part, MPI_BYTE, 0, grid->made, d);
    } else {
        if (library)
            MPI_Scatter(at->whole, part, MPI_BYTE, at->block, part, MPI_BYTE, 0, line);
        else
            topoloom_line_scatter(at->whole, part, MPI_BYTE, at->block, part, MPI_BYTE, 0, grid->made, d);
    }
}

static double seconds_of(enum operation operation, bool library, const struct grid* grid,
                         const struct buffers* at) {
    const double start = common_start();
    for (int d = 0; d < 2; ++d) call(operation, library, grid, d, at);
    return latest(MPI_Wtime()) - start;
}

struct way {
    const char* name;
    enum operation operation;
    bool library;
    const char* schedule;  // "" is our choice
};
static const struct way ways[] = {
    {"library broadcast", broadcast, true, ""},
    {"pipeline", broadcast, false, "chain(segment=262144)"},
    {"pipeline", broadcast, false, "chain(segment=1048576)"},
    {"binomial", broadcast, false, "binomial"},
    {"our broadcast", broadcast, false, ""},
    {"library gather", gather, true, ""},
    {"our gather", gather, false, ""},
    {"library scatter", scatter, true, ""},
    {"our scatter", scatter, false, ""},
};

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int extents[2] = {atoi(argv[1]), atoi(argv[2])};
    const int bytes = atoi(argv[3]);
    const struct buffers at = {malloc((size_t)bytes), malloc((size_t)bytes), bytes};
    const int* const orders[] = {NULL, topoloom_tiled};
    for (size_t way = 0; way < sizeof ways / sizeof *ways; ++way) {
        double seconds[2];
        for (int tiled = 0; tiled < 2; ++tiled) {
            struct grid grid = make_grid(extents, orders[tiled], ways[way].schedule, argv[4]);
            seconds[tiled] = seconds_of(ways[way].operation, ways[way].library, &grid, &at);
            free_grid(&grid);
        }
        if (rank == 0)
            printf("{\"way\": \"%s\", \"default\": %.9g, \"tiled\": %.9g}\n", ways[way].name, seconds[0],
                   seconds[1]);
        fflush(stdout);
    }
    free(at.whole);
    free(at.block);
    MPI_Finalize();
    return 0;
}
