// SPDX-License-Identifier: BSD-3-Clause
// Creates and frees grids and their lines, and converts coordinates.
#include <stdlib.h>
#include <string.h>

#include "grid.h"

static int check_extents(MPI_Comm comm, int dimensions, const int extents[]) {
    if (dimensions < 1 || extents == NULL)
        return raise_error(comm, MPI_ERR_DIMS, "grid_create", "a grid needs one dimension or more, not %d",
                           extents == NULL ? 0 : dimensions);
    int ranks = 0;
    const int status = PMPI_Comm_size(comm, &ranks);
    if (status != MPI_SUCCESS) return status;
    long long cells = 1;
    for (int d = 0; d < dimensions; ++d) {
        if (extents[d] < 1)
            return raise_error(comm, MPI_ERR_DIMS, "grid_create", "extents[%d] is %d, but must be positive",
                               d, extents[d]);
        cells = cells > ranks ? cells : cells * extents[d];
    }
    if (cells == ranks) return MPI_SUCCESS;
    return raise_error(comm, MPI_ERR_DIMS, "grid_create",
                       "the grid has %s cells than the communicator's %d ranks",
                       cells > ranks ? "more" : "fewer", ranks);
}

static struct topoloom_grid_state* allocate_grid(int dimensions, const int extents[], int ranks) {
    struct topoloom_grid_state* grid = calloc(1, sizeof *grid);
    if (grid == NULL) return NULL;
    grid->comm = MPI_COMM_NULL;
    grid->dimensions = dimensions;
    grid->extents = calloc((size_t)dimensions, sizeof *grid->extents);
    grid->coords = calloc((size_t)dimensions, sizeof *grid->coords);
    grid->lines = calloc((size_t)dimensions, sizeof(struct comm_state*));
    grid->rank_of_cell = calloc((size_t)ranks, sizeof *grid->rank_of_cell);
    grid->cell_of_rank = calloc((size_t)ranks, sizeof *grid->cell_of_rank);
    if (grid->extents != NULL) memcpy(grid->extents, extents, (size_t)dimensions * sizeof *extents);
    return grid;
}

static bool is_allocated(const struct topoloom_grid_state* grid) {
    return grid != NULL && grid->extents != NULL && grid->coords != NULL && grid->lines != NULL &&
           grid->rank_of_cell != NULL && grid->cell_of_rank != NULL;
}

static int free_grid(struct topoloom_grid_state* grid) {
    if (grid == NULL) return MPI_SUCCESS;
    int status = MPI_SUCCESS;
    for (int d = 0; grid->lines != NULL && d < grid->dimensions; ++d)
        if (grid->lines[d] != NULL) release_state(grid->lines[d]);
    if (grid->comm != MPI_COMM_NULL) status = PMPI_Comm_free(&grid->comm);
    free(grid->lines);
    free(grid->extents);
    free(grid->coords);
    free(grid->rank_of_cell);
    free(grid->cell_of_rank);
    free(grid);
    return status;
}

/// Lists the members of all lines along a dimension, line by line, in the order of coordinates.
static void list_lines(const struct topoloom_grid_state* grid, int dimension, uint32_t* ranks) {
    const int stride = get_stride(grid, dimension), extent = grid->extents[dimension];
    for (int first = 0; first < grid->whole->ranks; ++first) {
        if (first / stride % extent != 0) continue;
        for (int at = 0; at < extent; ++at) *ranks++ = (uint32_t)grid->rank_of_cell[first + at * stride];
    }
}

static int create_line(struct topoloom_grid_state* grid, int dimension) {
    const int extent = grid->extents[dimension], stride = get_stride(grid, dimension);
    const int at = grid->coords[dimension];
    const size_t ranks = (size_t)grid->whole->ranks;
    uint32_t* listed = malloc(ranks * sizeof *listed);
    int* members = malloc((size_t)extent * sizeof *members);
    topoloom_strategy* strategy = NULL;
    char reason[256] = "not enough memory";
    bool is_ok = listed != NULL && members != NULL;
    if (is_ok) {
        list_lines(grid, dimension, listed);
        is_ok = topoloom_strategy_for_concurrent_calls(grid->whole->strategy, ranks / (size_t)extent, listed,
                                                       &strategy, reason, sizeof reason) == 0;
    }
    free(listed);
    if (is_ok) {
        const int first = grid->cell_of_rank[grid->rank] - at * stride;
        for (int i = 0; i < extent; ++i) members[i] = grid->rank_of_cell[first + i * stride];
        grid->lines[dimension] = create_line_state(grid->whole, at, extent, members, strategy);
        is_ok = grid->lines[dimension] != NULL;
    }
    if (is_ok) return MPI_SUCCESS;
    free(members);
    topoloom_strategy_free(strategy);
    return raise_error(grid->comm, MPI_ERR_OTHER, "grid_create", "%s", reason);
}

static int set_up_grid(struct topoloom_grid_state* grid, MPI_Comm comm, const int order[]) {
    int status = PMPI_Comm_dup(comm, &grid->comm);
    if (status == MPI_SUCCESS) status = open_state(grid->comm, &grid->whole);
    if (status != MPI_SUCCESS) return status;
    bool done = false;
    status = advance_setup(grid->whole, true, &done);
    if (status != MPI_SUCCESS) return raise_setup_error(comm, "grid_create", status);
    grid->rank = grid->whole->rank;
    status = assign_cells(grid, order);
    if (status != MPI_SUCCESS) return status;
    for (int d = 0; d < grid->dimensions; ++d)
        grid->coords[d] = grid->cell_of_rank[grid->rank] / get_stride(grid, d) % grid->extents[d];
    for (int d = 0; d < grid->dimensions && status == MPI_SUCCESS; ++d) status = create_line(grid, d);
    return status;
}

int topoloom_grid_create(MPI_Comm comm, int dimensions, const int extents[], const int order[],
                         topoloom_grid* grid) {
    if (grid == NULL) return raise_error(comm, MPI_ERR_ARG, "grid_create", "the address of the grid is NULL");
    *grid = TOPOLOOM_GRID_NULL;
    int ranks = 0;
    int status = check_extents(comm, dimensions, extents);
    if (status == MPI_SUCCESS) status = PMPI_Comm_size(comm, &ranks);
    if (status != MPI_SUCCESS) return status;
    struct topoloom_grid_state* created = allocate_grid(dimensions, extents, ranks);
    status = is_allocated(created) ? set_up_grid(created, comm, order)
                                   : raise_error(comm, MPI_ERR_NO_MEM, "grid_create", "not enough memory");
    if (status == MPI_SUCCESS) {
        *grid = created;
    } else {
        free_grid(created);
    }
    return status;
}

int topoloom_grid_free(topoloom_grid* grid) {
    if (grid == NULL || *grid == TOPOLOOM_GRID_NULL) return MPI_ERR_ARG;
    const int status = free_grid(*grid);
    *grid = TOPOLOOM_GRID_NULL;
    return status;
}

int topoloom_grid_coords(topoloom_grid grid, int rank, int coords[]) {
    if (grid == TOPOLOOM_GRID_NULL || coords == NULL) return MPI_ERR_ARG;
    if (rank < 0 || rank >= grid->whole->ranks)
        return raise_error(grid->comm, MPI_ERR_RANK, "grid_coords", "rank is %d, but ranks are 0 to %d", rank,
                           grid->whole->ranks - 1);
    for (int d = 0; d < grid->dimensions; ++d)
        coords[d] = grid->cell_of_rank[rank] / get_stride(grid, d) % grid->extents[d];
    return MPI_SUCCESS;
}

int topoloom_grid_rank(topoloom_grid grid, const int coords[], int* rank) {
    if (grid == TOPOLOOM_GRID_NULL || coords == NULL || rank == NULL) return MPI_ERR_ARG;
    int cell = 0;
    for (int d = 0; d < grid->dimensions; ++d) {
        if (coords[d] < 0 || coords[d] >= grid->extents[d])
            return raise_error(grid->comm, MPI_ERR_DIMS, "grid_rank", "coords[%d] is %d, but must be 0 to %d",
                               d, coords[d], grid->extents[d] - 1);
        cell += coords[d] * get_stride(grid, d);
    }
    *rank = grid->rank_of_cell[cell];
    return MPI_SUCCESS;
}
