// SPDX-License-Identifier: BSD-3-Clause
// Creates topologies with reorder != 0. First MPI creates the topology without reordering, so that MPI's checks, errors
// and choice of processes apply. Then the same topology is created with the processes in a better order.
#include <stdlib.h>
#include <string.h>

#include "reorder.h"

/// A single array: sources, their weights, destinations, their weights.
struct neighbor_lists {
    int sources, destinations, weighted;
    int* ranks;
};

static int* get_source_weights(const struct neighbor_lists* list) { return list->ranks + list->sources; }
static int* get_destinations(const struct neighbor_lists* list) { return list->ranks + 2 * list->sources; }
static int* get_destination_weights(const struct neighbor_lists* list) {
    return get_destinations(list) + list->destinations;
}
static int count_values(const struct neighbor_lists* list) {
    return 2 * (list->sources + list->destinations);
}

static bool allocate_neighbors(struct neighbor_lists* list) {
    list->ranks = calloc((size_t)count_values(list) + 1, sizeof *list->ranks);
    return list->ranks != NULL;
}

/// If memory is exhausted, `ranks` is NULL.
static void find_neighbors(MPI_Comm comm, int kind, struct neighbor_lists* list) {
    *list = (struct neighbor_lists){0};
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    if (kind == MPI_CART) {
        int axes = 0;
        PMPI_Cartdim_get(comm, &axes);
        list->destinations = 2 * axes;
        if (!allocate_neighbors(list)) return;
        for (int i = 0; i < axes; ++i)
            PMPI_Cart_shift(comm, i, 1, &get_destinations(list)[2 * i], &get_destinations(list)[2 * i + 1]);
    } else if (kind == MPI_GRAPH) {
        PMPI_Graph_neighbors_count(comm, rank, &list->destinations);
        if (!allocate_neighbors(list)) return;
        PMPI_Graph_neighbors(comm, rank, list->destinations, get_destinations(list));
    } else {
        PMPI_Dist_graph_neighbors_count(comm, &list->sources, &list->destinations, &list->weighted);
        if (!allocate_neighbors(list)) return;
        PMPI_Dist_graph_neighbors(comm, list->sources, list->ranks, get_source_weights(list),
                                  list->destinations, get_destinations(list), get_destination_weights(list));
    }
}

static int find_better_rank_for_neighbors(MPI_Comm comm, const struct neighbor_lists* list,
                                          struct reorder_stats* stats) {
    const int count = list->ranks == NULL ? -1 : list->destinations;
    int64_t* bytes = list->weighted && count > 0 ? malloc((size_t)count * sizeof *bytes) : NULL;
    const bool lacks_memory = list->weighted && count > 0 && bytes == NULL;
    for (int i = 0; bytes != NULL && i < count; ++i) bytes[i] = get_destination_weights(list)[i];
    const int better = find_better_rank(comm, lacks_memory ? -1 : count,
                                        count < 0 ? NULL : get_destinations(list), bytes, NULL, stats);
    free(bytes);
    return better;
}

/// Whether all processes could allocate memory. If one of them skipped a collective call, the others would
/// hang.
static bool is_allocated_everywhere(const int* memory, MPI_Comm comm) {
    int is_allocated = memory != NULL;
    PMPI_Allreduce(MPI_IN_PLACE, &is_allocated, 1, MPI_INT, MPI_LAND, comm);
    return is_allocated;
}

static int recreate_cart(MPI_Comm old, MPI_Comm reordered_comm, MPI_Comm* better) {
    int axes = 0, status = MPI_ERR_NO_MEM;
    PMPI_Cartdim_get(old, &axes);
    int* numbers = calloc(3 * (size_t)axes + 1, sizeof *numbers);
    if (is_allocated_everywhere(numbers, reordered_comm)) {
        PMPI_Cart_get(old, axes, numbers, numbers + axes, numbers + 2 * axes);
        status = PMPI_Cart_create(reordered_comm, axes, numbers, numbers + axes, 0, better);
    }
    free(numbers);
    return status;
}

static int recreate_graph(MPI_Comm old, MPI_Comm reordered_comm, MPI_Comm* better) {
    int nodes = 0, edges = 0, status = MPI_ERR_NO_MEM;
    PMPI_Graphdims_get(old, &nodes, &edges);
    int* numbers = calloc((size_t)nodes + (size_t)edges + 1, sizeof *numbers);
    if (is_allocated_everywhere(numbers, reordered_comm)) {
        PMPI_Graph_get(old, nodes, edges, numbers, numbers + nodes);
        status = PMPI_Graph_create(reordered_comm, nodes, numbers, numbers + nodes, 0, better);
    }
    free(numbers);
    return status;
}

/// Sends the list of rank i to the process whose new rank is i. The communicator has no other traffic.
static bool exchange_lists(MPI_Comm reordered_comm, int old_rank, const struct neighbor_lists* own_list,
                           struct neighbor_lists* theirs) {
    enum { tag_header = 1, tag_list = 2 };
    const int sent[3] = {own_list->sources, own_list->destinations, own_list->weighted};
    int received[3] = {0};
    MPI_Status from;
    PMPI_Sendrecv(sent, 3, MPI_INT, old_rank, tag_header, received, 3, MPI_INT, MPI_ANY_SOURCE, tag_header,
                  reordered_comm, &from);
    *theirs = (struct neighbor_lists){received[0], received[1], received[2], NULL};
    allocate_neighbors(theirs);
    const bool proceed = is_allocated_everywhere(theirs->ranks, reordered_comm);
    if (proceed)
        PMPI_Sendrecv(own_list->ranks, count_values(own_list), MPI_INT, old_rank, tag_list, theirs->ranks,
                      count_values(theirs), MPI_INT, from.MPI_SOURCE, tag_list, reordered_comm,
                      MPI_STATUS_IGNORE);
    return proceed;
}

static int* get_mpi_weights(const struct neighbor_lists* list, int count, int* weights) {
    if (!list->weighted) return MPI_UNWEIGHTED;
    return count == 0 ? MPI_WEIGHTS_EMPTY : weights;
}

static int recreate_dist_graph(MPI_Comm old, MPI_Comm reordered_comm, const struct neighbor_lists* own_list,
                               MPI_Info info, MPI_Comm* better) {
    int old_rank = 0, status = MPI_ERR_NO_MEM;
    struct neighbor_lists list;
    PMPI_Comm_rank(old, &old_rank);
    if (exchange_lists(reordered_comm, old_rank, own_list, &list))
        status = PMPI_Dist_graph_create_adjacent(
            reordered_comm, list.sources, list.ranks,
            get_mpi_weights(&list, list.sources, get_source_weights(&list)), list.destinations,
            get_destinations(&list),
            get_mpi_weights(&list, list.destinations, get_destination_weights(&list)), info, 0, better);
    free(list.ranks);
    return status;
}

/// Replaces the communicator by one with the same topology, in which this process has the given rank.
static bool recreate_topology(MPI_Comm* comm, int kind, const struct neighbor_lists* own_list, MPI_Info info,
                              int rank) {
    MPI_Comm reordered_comm = MPI_COMM_NULL, better = MPI_COMM_NULL;
    if (PMPI_Comm_split(*comm, 0, rank, &reordered_comm) != MPI_SUCCESS) return false;
    const int recreated = kind == MPI_CART ? recreate_cart(*comm, reordered_comm, &better)
                          : kind == MPI_GRAPH
                              ? recreate_graph(*comm, reordered_comm, &better)
                              : recreate_dist_graph(*comm, reordered_comm, own_list, info, &better);
    int is_created = recreated == MPI_SUCCESS;
    PMPI_Allreduce(MPI_IN_PLACE, &is_created, 1, MPI_INT, MPI_LAND, reordered_comm);
    PMPI_Comm_free(&reordered_comm);
    if (is_created) {
        PMPI_Comm_free(comm);
        *comm = better;
    } else if (better != MPI_COMM_NULL) {
        PMPI_Comm_free(&better);
    }
    return is_created;
}

int topoloom_topology_reorder(MPI_Comm* comm, MPI_Info info) {
    int kind = MPI_UNDEFINED;
    if (*comm == MPI_COMM_NULL) return MPI_SUCCESS;
    const int status = PMPI_Topo_test(*comm, &kind);
    if (status != MPI_SUCCESS || kind == MPI_UNDEFINED) return status;
    struct neighbor_lists own_list;
    MPI_Errhandler handler;
    // Our communicators inherit this error handler, so that the program can continue if their creation fails.
    PMPI_Comm_get_errhandler(*comm, &handler);
    PMPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN);
    find_neighbors(*comm, kind, &own_list);
    struct reorder_stats stats;
    const int rank = find_better_rank_for_neighbors(*comm, &own_list, &stats);
    if (rank < 0 || recreate_topology(comm, kind, &own_list, info, rank))
        add_to_totals(&stats);
    else
        add_failure_to_totals(&stats, "MPI could not recreate the topology in the better order");
    free(own_list.ranks);
    PMPI_Comm_set_errhandler(*comm, handler);
    PMPI_Errhandler_free(&handler);
    return MPI_SUCCESS;
}

int topoloom_topology_reorder_f(MPI_Fint* comm, const MPI_Fint* info) {
    MPI_Comm c_comm = PMPI_Comm_f2c(*comm);
    const int status = topoloom_topology_reorder(&c_comm, PMPI_Info_f2c(*info));
    *comm = PMPI_Comm_c2f(c_comm);
    return status;
}

static int reorder_if_requested(int status, int reorder, MPI_Comm* created, MPI_Info info) {
    return status == MPI_SUCCESS && reorder ? topoloom_topology_reorder(created, info) : status;
}

int topoloom_cart_create(MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder,
                         MPI_Comm* comm_cart) {
    const int status = PMPI_Cart_create(comm, ndims, dims, periods, 0, comm_cart);
    return reorder_if_requested(status, reorder, comm_cart, MPI_INFO_NULL);
}

int topoloom_graph_create(MPI_Comm comm, int nnodes, const int index[], const int edges[], int reorder,
                          MPI_Comm* comm_graph) {
    const int status = PMPI_Graph_create(comm, nnodes, index, edges, 0, comm_graph);
    return reorder_if_requested(status, reorder, comm_graph, MPI_INFO_NULL);
}

int topoloom_dist_graph_create(MPI_Comm comm, int n, const int sources[], const int degrees[],
                               const int destinations[], const int weights[], MPI_Info info, int reorder,
                               MPI_Comm* comm_dist_graph) {
    const int status =
        PMPI_Dist_graph_create(comm, n, sources, degrees, destinations, weights, info, 0, comm_dist_graph);
    return reorder_if_requested(status, reorder, comm_dist_graph, info);
}

int topoloom_dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int sources[],
                                        const int sourceweights[], int outdegree, const int destinations[],
                                        const int destweights[], MPI_Info info, int reorder,
                                        MPI_Comm* comm_dist_graph) {
    const int status = PMPI_Dist_graph_create_adjacent(comm, indegree, sources, sourceweights, outdegree,
                                                       destinations, destweights, info, 0, comm_dist_graph);
    return reorder_if_requested(status, reorder, comm_dist_graph, info);
}
