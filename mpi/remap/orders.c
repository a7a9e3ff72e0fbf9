// SPDX-License-Identifier: BSD-3-Clause
// Finds the process of each rank in an order.
#include <stdio.h>
#include <stdlib.h>

#include "remap.h"
#include "reorder.h"
#include "topoloom.h"

enum { most_dimensions = 16 };

static int order_by_costs(const char* name, int size, const struct order_options* options,
                          const double* seconds, int ranks[], char why[why_size]) {
    uint32_t* found = malloc((size_t)size * sizeof *found);
    int wrong = MPI_ERR_NO_MEM;
    snprintf(why, why_size, "not enough memory");
    if (found != NULL && topoloom_binomial_order((size_t)size, seconds, name, (size_t)options->root,
                                                 (uint32_t)options->channels, (uint64_t)options->seed, found,
                                                 why, why_size) == 0)
        wrong = MPI_SUCCESS;
    for (int i = 0; wrong == MPI_SUCCESS && i < size; ++i) ranks[i] = (int)found[i];
    free(found);
    return wrong;
}

struct seat {
    int64_t node;
    int first, rank;  // first: the lowest rank on the node
};

static int by_node(const void* a, const void* b) {
    const struct seat *left = a, *right = b;
    if (left->node != right->node) return left->node < right->node ? -1 : 1;
    return left->rank - right->rank;
}

static int by_first(const void* a, const void* b) {
    const struct seat *left = a, *right = b;
    return left->first != right->first ? left->first - right->first : left->rank - right->rank;
}

/// Node after node, in the order of their lowest ranks, as launchers do it `by core`.
static int order_by_node(MPI_Comm comm, int rank, int size, int ranks[], char why[why_size]) {
    struct location location;
    find_location(&location);
    struct seat* seats = rank == 0 ? malloc((size_t)size * sizeof *seats) : NULL;
    int64_t* nodes = rank == 0 ? malloc((size_t)size * sizeof *nodes) : NULL;
    int enough = rank != 0 || (seats != NULL && nodes != NULL);
    int status = PMPI_Bcast(&enough, 1, MPI_INT, 0, comm);
    if (status == MPI_SUCCESS && enough)
        status = PMPI_Gather(&location.node, 1, MPI_INT64_T, nodes, 1, MPI_INT64_T, 0, comm);
    if (!enough) {
        snprintf(why, why_size, "not enough memory");
        status = MPI_ERR_NO_MEM;
    }
    if (rank == 0 && status == MPI_SUCCESS) {
        for (int r = 0; r < size; ++r) seats[r] = (struct seat){.node = nodes[r], .rank = r};
        qsort(seats, (size_t)size, sizeof *seats, by_node);
        for (int i = 0; i < size; ++i)
            seats[i].first = i > 0 && seats[i].node == seats[i - 1].node ? seats[i - 1].first : seats[i].rank;
        qsort(seats, (size_t)size, sizeof *seats, by_first);
        for (int i = 0; i < size; ++i) ranks[i] = seats[i].rank;
    }
    free(seats);
    free(nodes);
    return status;
}

/// Of a cell of the grid, row-major; their number.
static int list_neighbors(const int extents[], int dimensions, int cell, int neighbors[]) {
    int count = 0;
    for (int d = dimensions - 1, stride = 1; d >= 0; stride *= extents[d], --d) {
        const int at = cell / stride % extents[d];
        if (at > 0) neighbors[count++] = cell - stride;
        if (at + 1 < extents[d]) neighbors[count++] = cell + stride;
    }
    return count;
}

static void write_mapper(const int extents[], int dimensions, char* text, size_t size) {
    int length = snprintf(text, size, "mapper=tile(grid=");
    const char* before = "";
    for (int d = 0; d < dimensions; ++d) {
        if (extents[d] == 1) continue;
        length += snprintf(text + length, size - (size_t)length, "%s%d", before, extents[d]);
        before = "x";
    }
    snprintf(text + length, size - (size_t)length, ")");
}

/// Each node has a compact tile of the grid; the order stays where nothing is gained.
static int order_in_tiles(MPI_Comm comm, const char* grid, int rank, int size, int ranks[],
                          char why[why_size]) {
    int extents[most_dimensions], neighbors[2 * most_dimensions];
    char mapper[256];
    const int dimensions = read_extents(grid, extents, most_dimensions);
    const int count = list_neighbors(extents, dimensions, rank, neighbors);
    write_mapper(extents, dimensions, mapper, sizeof mapper);
    struct tally worth;
    int better = count == 0 && size == 1 ? -1 : better_rank(comm, count, neighbors, NULL, mapper, &worth);
    if (better < 0) better = rank;
    int* new_rank = rank == 0 ? malloc((size_t)size * sizeof *new_rank) : NULL;
    int enough = rank != 0 || new_rank != NULL;
    int status = PMPI_Bcast(&enough, 1, MPI_INT, 0, comm);
    if (status == MPI_SUCCESS && !enough) {
        snprintf(why, why_size, "not enough memory");
        return MPI_ERR_NO_MEM;
    }
    if (status == MPI_SUCCESS) status = PMPI_Gather(&better, 1, MPI_INT, new_rank, 1, MPI_INT, 0, comm);
    for (int p = 0; rank == 0 && status == MPI_SUCCESS && p < size; ++p) ranks[new_rank[p]] = p;
    free(new_rank);
    return status;
}

int find_order(MPI_Comm comm, const struct order* order, const struct order_options* options,
               const double* seconds, int ranks[], char why[why_size]) {
    int rank = 0, size = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    if (order->kind == blocked) return order_by_node(comm, rank, size, ranks, why);
    if (order->kind == tiled) return order_in_tiles(comm, order->argument, rank, size, ranks, why);
    if (rank != 0) return MPI_SUCCESS;
    if (order->kind == from_file) return read_order_file(order->argument, size, ranks, why);
    return order_by_costs(order->text, size, options, seconds, ranks, why);
}
