// SPDX-License-Identifier: BSD-3-Clause
// What the parts of process grids offer each other. Functions that return int return what MPI functions do.
#ifndef TOPOLOOM_GRID_PARTS_H
#define TOPOLOOM_GRID_PARTS_H

#include "collective.h"
#include "topoloom_grid.h"

struct topoloom_grid_state {
    MPI_Comm comm;  // the grid's own, which carries the state of all ranks
    struct comm_state* whole;
    int dimensions, rank;
    int *extents, *coords;  // of the grid, and of this rank
    int *rank_of_cell, *cell_of_rank;
    struct comm_state** lines;  // of this rank, by dimension
};

/// What one step along a dimension adds to the number of a cell.
int stride_along(const struct topoloom_grid_state* grid, int dimension);

// ---- order.c -----------------------------------------------------------------------------------------------------
/// Finds rank_of_cell and cell_of_rank as the program wants them: on rank 0, for all.
int find_order(struct topoloom_grid_state* grid, const int order[]);

#endif
