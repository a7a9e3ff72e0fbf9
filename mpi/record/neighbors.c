// SPDX-License-Identifier: BSD-3-Clause
// Finds the destinations of neighborhood collectives, in MPI's order of blocks.
#include <stdlib.h>

#include "record.h"

static int* allocate_ints(int count) { return malloc((size_t)(count > 0 ? count : 1) * sizeof(int)); }

/// Lists two neighbors per dimension, the lower one first. A neighbor is MPI_PROC_NULL at the border of a non-periodic
/// grid.
static int* list_cart_neighbors(MPI_Comm comm, int* count) {
    int dims = 0;
    PMPI_Cartdim_get(comm, &dims);
    int* ranks = allocate_ints(2 * dims);
    if (ranks == NULL) return NULL;
    for (int d = 0; d < dims; ++d) PMPI_Cart_shift(comm, d, 1, &ranks[2 * d], &ranks[2 * d + 1]);
    *count = 2 * dims;
    return ranks;
}

static int* list_graph_neighbors(MPI_Comm comm, int my_rank, int* count) {
    PMPI_Graph_neighbors_count(comm, my_rank, count);
    int* ranks = allocate_ints(*count);
    if (ranks != NULL) PMPI_Graph_neighbors(comm, my_rank, *count, ranks);
    return ranks;
}

static int* list_dist_graph_neighbors(MPI_Comm comm, int* count) {
    int sources = 0, weighted = 0;
    PMPI_Dist_graph_neighbors_count(comm, &sources, count, &weighted);
    int *source_ranks = allocate_ints(sources), *ranks = allocate_ints(*count);
    int *source_weights = allocate_ints(sources), *weights = allocate_ints(*count);
    if (source_ranks != NULL && ranks != NULL && source_weights != NULL && weights != NULL)
        PMPI_Dist_graph_neighbors(comm, sources, source_ranks, source_weights, *count, ranks, weights);
    else
        *count = 0;
    free(source_ranks);
    free(source_weights);
    free(weights);
    return ranks;
}

void find_neighbors(struct rank_group* group, MPI_Comm comm) {
    if (group->neighbor_count >= 0) return;
    int kind = MPI_UNDEFINED, count = 0;
    int* ranks = NULL;
    PMPI_Topo_test(comm, &kind);
    if (kind == MPI_CART) ranks = list_cart_neighbors(comm, &count);
    if (kind == MPI_GRAPH) ranks = list_graph_neighbors(comm, group->my_rank, &count);
    if (kind == MPI_DIST_GRAPH) ranks = list_dist_graph_neighbors(comm, &count);
    group->neighbor_count = ranks == NULL ? 0 : count;
    for (int i = 0; i < group->neighbor_count; ++i) ranks[i] = to_world_rank(group, ranks[i]);
    group->neighbors = ranks;
}
