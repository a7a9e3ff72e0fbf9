// SPDX-License-Identifier: BSD-3-Clause
// Internal interfaces of process grids. Functions of type int return MPI error codes.
#ifndef TOPOLOOM_GRID_PARTS_H
#define TOPOLOOM_GRID_PARTS_H

#include "collective.h"
#include "topoloom_grid.h"

struct topoloom_grid_state {
    MPI_Comm comm;  // private duplicate
    struct comm_state* whole;
    int dimensions, rank;
    int *extents, *coords;  // extents of the grid; coordinates of this rank
    int *rank_of_cell, *cell_of_rank;
    struct comm_state** lines;  // for each dimension, the state of this rank's line
};

/// Difference of cell numbers between neighbors along a dimension.
static inline int get_stride(const struct topoloom_grid_state* grid, int dimension) {
    int stride = 1;
    for (int d = dimension + 1; d < grid->dimensions; ++d) stride *= grid->extents[d];
    return stride;
}

// ---- cell_order.c ------------------------------------------------------------------------------------------------
/// Computes rank_of_cell and cell_of_rank on rank 0, and broadcasts both.
int assign_cells(struct topoloom_grid_state* grid, const int order[]);

#endif
