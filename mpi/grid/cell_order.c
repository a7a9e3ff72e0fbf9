// SPDX-License-Identifier: BSD-3-Clause
// Assigns the cells of a grid to ranks.
#include <stdio.h>
#include <stdlib.h>

#include "grid.h"

const int topoloom_tiled[1] = {0};

/// Communication pattern: 1 byte between neighbors along each dimension.
struct neighbor_arrays {
    uint64_t* first;
    uint32_t* peers;
    int64_t* bytes;
};

static bool list_neighbors(const struct topoloom_grid_state* grid, size_t cells,
                           struct neighbor_arrays* neighbors) {
    const size_t max_neighbors = 2 * (size_t)grid->dimensions * cells;
    neighbors->first = malloc((cells + 1) * sizeof *neighbors->first);
    neighbors->peers = malloc(max_neighbors * sizeof *neighbors->peers);
    neighbors->bytes = malloc(max_neighbors * sizeof *neighbors->bytes);
    if (neighbors->first == NULL || neighbors->peers == NULL || neighbors->bytes == NULL) return false;
    size_t count = 0;
    for (size_t cell = 0; cell < cells; ++cell) {
        neighbors->first[cell] = count;
        for (int d = 0; d < grid->dimensions; ++d) {
            const size_t stride = (size_t)get_stride(grid, d), extent = (size_t)grid->extents[d];
            const size_t at = cell / stride % extent;
            if (at > 0) neighbors->peers[count++] = (uint32_t)(cell - stride);
            if (at + 1 < extent) neighbors->peers[count++] = (uint32_t)(cell + stride);
        }
    }
    neighbors->first[cells] = count;
    for (size_t i = 0; i < count; ++i) neighbors->bytes[i] = 1;
    return true;
}

/// Writes the mapper options, omitting dimensions of extent 1.
static void write_mapper_options(const struct topoloom_grid_state* grid, char* text, size_t size) {
    int length = snprintf(text, size, "mapper=tile(grid=");
    const char* before = "";
    for (int d = 0; d < grid->dimensions && (size_t)length < size; ++d) {
        if (grid->extents[d] == 1) continue;
        length += snprintf(text + length, size - (size_t)length, "%s%d", before, grid->extents[d]);
        before = "x";
    }
    if ((size_t)length < size) snprintf(text + length, size - (size_t)length, ")");
}

/// Computes a tiled order by the mapper `tile`. On failure returns false and writes the reason to `reason`.
static bool compute_tiled_order(const struct topoloom_grid_state* grid, uint32_t* rank_of_cell, char* reason,
                                size_t reason_size) {
    const size_t cells = (size_t)grid->whole->ranks;
    char options[512];
    write_mapper_options(grid, options, sizeof options);
    struct neighbor_arrays neighbors = {0};
    int64_t* nodes = malloc(cells * sizeof *nodes);
    topoloom_process_map* process_map = NULL;
    bool is_ok = list_neighbors(grid, cells, &neighbors) && nodes != NULL;
    if (!is_ok) snprintf(reason, reason_size, "not enough memory");
    if (is_ok) {
        topoloom_strategy_nodes(grid->whole->strategy, nodes);
        is_ok = topoloom_process_map_from_groups(cells, 1, 0, nodes, &process_map, reason, reason_size) == 0;
    }
    if (is_ok) {
        const topoloom_pattern pattern = {cells, neighbors.first, neighbors.peers, neighbors.bytes};
        topoloom_gain gain;
        is_ok = topoloom_order(process_map, &pattern, options, rank_of_cell, &gain, reason, reason_size) == 0;
        topoloom_process_map_free(process_map);
    }
    free(neighbors.first);
    free(neighbors.peers);
    free(neighbors.bytes);
    free(nodes);
    return is_ok;
}

static void order_by_tiles(struct topoloom_grid_state* grid) {
    const size_t cells = (size_t)grid->whole->ranks;
    uint32_t* tiled_order = malloc(cells * sizeof *tiled_order);
    char reason[256] = "not enough memory";
    const bool tiled = tiled_order != NULL && compute_tiled_order(grid, tiled_order, reason, sizeof reason);
    if (!tiled) fprintf(stderr, "topoloom: grid: %s; the order is row-major\n", reason);
    for (size_t cell = 0; tiled && cell < cells; ++cell) grid->rank_of_cell[cell] = (int)tiled_order[cell];
    free(tiled_order);
}

int assign_cells(struct topoloom_grid_state* grid, const int order[]) {
    const int cells = grid->whole->ranks;
    if (grid->rank == 0) {
        const bool has_order = order != NULL && order != topoloom_tiled;
        for (int cell = 0; cell < cells; ++cell) grid->rank_of_cell[cell] = has_order ? order[cell] : cell;
        if (order == topoloom_tiled && cells > 1) order_by_tiles(grid);
    }
    const int status = PMPI_Bcast(grid->rank_of_cell, cells, MPI_INT, 0, grid->whole->duplicate);
    if (status != MPI_SUCCESS)
        return raise_error(grid->comm, status, "grid_create", "cannot broadcast the order");
    for (int rank = 0; rank < cells; ++rank) grid->cell_of_rank[rank] = -1;
    for (int cell = 0; cell < cells; ++cell) {
        const int rank = grid->rank_of_cell[cell];
        if (rank < 0 || rank >= cells)
            return raise_error(grid->comm, MPI_ERR_RANK, "grid_create",
                               "order[%d] is %d, but ranks are 0 to %d", cell, rank, cells - 1);
        if (grid->cell_of_rank[rank] >= 0)
            return raise_error(grid->comm, MPI_ERR_RANK, "grid_create",
                               "order has rank %d for the cells %d and %d", rank, grid->cell_of_rank[rank],
                               cell);
        grid->cell_of_rank[rank] = cell;
    }
    return MPI_SUCCESS;
}
