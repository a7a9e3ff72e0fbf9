// SPDX-License-Identifier: BSD-3-Clause
// Computes rank orders: the process of each rank.
#include <stdio.h>
#include <stdlib.h>

#include "remap.h"
#include "reorder.h"
#include "topoloom.h"

static int order_by_message_times(const char* name, int size, const struct order_options* options,
                                  const double* seconds, int ranks[], char error[error_size]) {
    uint32_t* found = malloc((size_t)size * sizeof *found);
    int error_class = MPI_ERR_NO_MEM;
    snprintf(error, error_size, "not enough memory");
    if (found != NULL && topoloom_binomial_order((size_t)size, seconds, name, (size_t)options->root,
                                                 (uint32_t)options->channels, (uint64_t)options->seed, found,
                                                 error, error_size) == 0)
        error_class = MPI_SUCCESS;
    for (int i = 0; error_class == MPI_SUCCESS && i < size; ++i) ranks[i] = (int)found[i];
    free(found);
    return error_class;
}

struct node_rank {
    int64_t node;
    int first, rank;  // first: lowest rank on the node
};

static int compare_nodes(const void* a, const void* b) {
    const struct node_rank *left = a, *right = b;
    if (left->node != right->node) return left->node < right->node ? -1 : 1;
    return left->rank - right->rank;
}

static int compare_first_ranks(const void* a, const void* b) {
    const struct node_rank *left = a, *right = b;
    return left->first != right->first ? left->first - right->first : left->rank - right->rank;
}

/// Orders ranks node by node, by the lowest rank of each node, like launchers with block distribution.
static int order_by_node(MPI_Comm comm, int rank, int size, int ranks[], char error[error_size]) {
    struct location location;
    find_location(&location);
    struct node_rank* sorted = rank == 0 ? malloc((size_t)size * sizeof *sorted) : NULL;
    int64_t* nodes = rank == 0 ? malloc((size_t)size * sizeof *nodes) : NULL;
    int has_memory = rank != 0 || (sorted != NULL && nodes != NULL);
    int status = PMPI_Bcast(&has_memory, 1, MPI_INT, 0, comm);
    if (status == MPI_SUCCESS && has_memory)
        status = PMPI_Gather(&location.node, 1, MPI_INT64_T, nodes, 1, MPI_INT64_T, 0, comm);
    if (!has_memory) {
        snprintf(error, error_size, "not enough memory");
        status = MPI_ERR_NO_MEM;
    }
    if (rank == 0 && status == MPI_SUCCESS) {
        for (int r = 0; r < size; ++r) sorted[r] = (struct node_rank){.node = nodes[r], .rank = r};
        qsort(sorted, (size_t)size, sizeof *sorted, compare_nodes);
        for (int i = 0; i < size; ++i)
            sorted[i].first =
                i > 0 && sorted[i].node == sorted[i - 1].node ? sorted[i - 1].first : sorted[i].rank;
        qsort(sorted, (size_t)size, sizeof *sorted, compare_first_ranks);
        for (int i = 0; i < size; ++i) ranks[i] = sorted[i].rank;
    }
    free(sorted);
    free(nodes);
    return status;
}

/// Lists the neighbors of a cell in the row-major grid. Returns the number of neighbors.
static int list_neighbors(const int extents[], int dimensions, int cell, int neighbors[]) {
    int count = 0;
    for (int d = dimensions - 1, stride = 1; d >= 0; stride *= extents[d], --d) {
        const int at = cell / stride % extents[d];
        if (at > 0) neighbors[count++] = cell - stride;
        if (at + 1 < extents[d]) neighbors[count++] = cell + stride;
    }
    return count;
}

static void format_mapper(const int extents[], int dimensions, char* text, size_t size) {
    int length = snprintf(text, size, "mapper=tile(grid=");
    const char* separator = "";
    for (int d = 0; d < dimensions; ++d) {
        if (extents[d] == 1) continue;
        length += snprintf(text + length, size - (size_t)length, "%s%d", separator, extents[d]);
        separator = "x";
    }
    snprintf(text + length, size - (size_t)length, ")");
}

/// Assigns each node a compact tile of the grid. Keeps the order if tiles do not reduce inter-node traffic.
static int order_by_tiles(MPI_Comm comm, const char* grid, int rank, int size, int ranks[],
                          char error[error_size]) {
    int extents[max_dimensions], neighbors[2 * max_dimensions];
    char mapper[256];
    const int dimensions = parse_extents(grid, extents, max_dimensions);
    const int count = list_neighbors(extents, dimensions, rank, neighbors);
    format_mapper(extents, dimensions, mapper, sizeof mapper);
    struct reorder_stats stats;
    int better =
        count == 0 && size == 1 ? -1 : find_better_rank(comm, count, neighbors, NULL, mapper, &stats);
    if (better < 0) better = rank;
    int* new_rank = rank == 0 ? malloc((size_t)size * sizeof *new_rank) : NULL;
    int has_memory = rank != 0 || new_rank != NULL;
    int status = PMPI_Bcast(&has_memory, 1, MPI_INT, 0, comm);
    if (status == MPI_SUCCESS && !has_memory) {
        snprintf(error, error_size, "not enough memory");
        return MPI_ERR_NO_MEM;
    }
    if (status == MPI_SUCCESS) status = PMPI_Gather(&better, 1, MPI_INT, new_rank, 1, MPI_INT, 0, comm);
    for (int p = 0; rank == 0 && status == MPI_SUCCESS && p < size; ++p) ranks[new_rank[p]] = p;
    free(new_rank);
    return status;
}

int find_order(MPI_Comm comm, const struct order* order, const struct order_options* options,
               const double* seconds, int ranks[], char error[error_size]) {
    int rank = 0, size = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    if (order->kind == blocked) return order_by_node(comm, rank, size, ranks, error);
    if (order->kind == tiled) return order_by_tiles(comm, order->argument, rank, size, ranks, error);
    if (rank != 0) return MPI_SUCCESS;
    if (order->kind == from_file) return read_order_file(order->argument, size, ranks, error);
    return order_by_message_times(order->text, size, options, seconds, ranks, error);
}
