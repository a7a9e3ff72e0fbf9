// SPDX-License-Identifier: BSD-3-Clause
// Topologies with reorder != 0. MPI makes them without reordering first, so that its checks, its errors and
// its choice of processes hold; then the same topology is made again on the processes in a better order.
#include <stdlib.h>
#include <string.h>

#include "reorder.h"

/// Neighbors of a rank as MPI counts them, in one piece: sources, their weights, destinations, their weights.
struct neighbors {
    int sources, destinations, weighted;
    int* ranks;
};

static int* weights_from(const struct neighbors* list) { return list->ranks + list->sources; }
static int* to(const struct neighbors* list) { return list->ranks + 2 * list->sources; }
static int* weights_to(const struct neighbors* list) { return to(list) + list->destinations; }
static int length(const struct neighbors* list) { return 2 * (list->sources + list->destinations); }

static bool make_room(struct neighbors* list) {
    list->ranks = calloc((size_t)length(list) + 1, sizeof *list->ranks);
    return list->ranks != NULL;
}

/// Without `ranks` where memory is short.
static void find_neighbors(MPI_Comm comm, int kind, struct neighbors* list) {
    *list = (struct neighbors){0};
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    if (kind == MPI_CART) {
        int axes = 0;
        PMPI_Cartdim_get(comm, &axes);
        list->destinations = 2 * axes;
        if (!make_room(list)) return;
        for (int i = 0; i < axes; ++i) PMPI_Cart_shift(comm, i, 1, &to(list)[2 * i], &to(list)[2 * i + 1]);
    } else if (kind == MPI_GRAPH) {
        PMPI_Graph_neighbors_count(comm, rank, &list->destinations);
        if (!make_room(list)) return;
        PMPI_Graph_neighbors(comm, rank, list->destinations, to(list));
    } else {
        PMPI_Dist_graph_neighbors_count(comm, &list->sources, &list->destinations, &list->weighted);
        if (!make_room(list)) return;
        PMPI_Dist_graph_neighbors(comm, list->sources, list->ranks, weights_from(list), list->destinations,
                                  to(list), weights_to(list));
    }
}

/// The rank in a better order for these neighbors, or -1.
static int better_rank_for(MPI_Comm comm, const struct neighbors* list, struct tally* worth) {
    const int count = list->ranks == NULL ? -1 : list->destinations;
    int64_t* bytes = list->weighted && count > 0 ? malloc((size_t)count * sizeof *bytes) : NULL;
    const bool lacking = list->weighted && count > 0 && bytes == NULL;
    for (int i = 0; bytes != NULL && i < count; ++i) bytes[i] = weights_to(list)[i];
    const int better =
        better_rank(comm, lacking ? -1 : count, count < 0 ? NULL : to(list), bytes, NULL, worth);
    free(bytes);
    return better;
}

/// Collective calls that one process leaves out hang the others.
static bool everyone_has(const int* room, MPI_Comm comm) {
    int has = room != NULL;
    PMPI_Allreduce(MPI_IN_PLACE, &has, 1, MPI_INT, MPI_LAND, comm);
    return has;
}

static int remake_cart(MPI_Comm made, MPI_Comm moved, MPI_Comm* better) {
    int axes = 0, status = MPI_ERR_NO_MEM;
    PMPI_Cartdim_get(made, &axes);
    int* numbers = calloc(3 * (size_t)axes + 1, sizeof *numbers);
    if (everyone_has(numbers, moved)) {
        PMPI_Cart_get(made, axes, numbers, numbers + axes, numbers + 2 * axes);
        status = PMPI_Cart_create(moved, axes, numbers, numbers + axes, 0, better);
    }
    free(numbers);
    return status;
}

static int remake_graph(MPI_Comm made, MPI_Comm moved, MPI_Comm* better) {
    int nodes = 0, edges = 0, status = MPI_ERR_NO_MEM;
    PMPI_Graphdims_get(made, &nodes, &edges);
    int* numbers = calloc((size_t)nodes + (size_t)edges + 1, sizeof *numbers);
    if (everyone_has(numbers, moved)) {
        PMPI_Graph_get(made, nodes, edges, numbers, numbers + nodes);
        status = PMPI_Graph_create(moved, nodes, numbers, numbers + nodes, 0, better);
    }
    free(numbers);
    return status;
}

/// The list of rank i goes to the process that is rank i now. Nobody else knows this communicator yet.
static bool exchange(MPI_Comm moved, int old_rank, const struct neighbors* mine, struct neighbors* theirs) {
    enum { head = 1, body = 2 };
    const int sent[3] = {mine->sources, mine->destinations, mine->weighted};
    int got[3] = {0};
    MPI_Status from;
    PMPI_Sendrecv(sent, 3, MPI_INT, old_rank, head, got, 3, MPI_INT, MPI_ANY_SOURCE, head, moved, &from);
    *theirs = (struct neighbors){got[0], got[1], got[2], NULL};
    make_room(theirs);
    const bool go_on = everyone_has(theirs->ranks, moved);
    if (go_on)
        PMPI_Sendrecv(mine->ranks, length(mine), MPI_INT, old_rank, body, theirs->ranks, length(theirs),
                      MPI_INT, from.MPI_SOURCE, body, moved, MPI_STATUS_IGNORE);
    return go_on;
}

static int* weights_or_none(const struct neighbors* list, int count, int* weights) {
    if (!list->weighted) return MPI_UNWEIGHTED;
    return count == 0 ? MPI_WEIGHTS_EMPTY : weights;
}

static int remake_dist_graph(MPI_Comm made, MPI_Comm moved, const struct neighbors* mine, MPI_Info info,
                             MPI_Comm* better) {
    int old_rank = 0, status = MPI_ERR_NO_MEM;
    struct neighbors list;
    PMPI_Comm_rank(made, &old_rank);
    if (exchange(moved, old_rank, mine, &list))
        status = PMPI_Dist_graph_create_adjacent(
            moved, list.sources, list.ranks, weights_or_none(&list, list.sources, weights_from(&list)),
            list.destinations, to(&list), weights_or_none(&list, list.destinations, weights_to(&list)), info,
            0, better);
    free(list.ranks);
    return status;
}

/// Replaces the communicator by one with the same topology, in which this process has another rank.
static bool remake(MPI_Comm* comm, int kind, const struct neighbors* mine, MPI_Info info, int rank) {
    MPI_Comm moved = MPI_COMM_NULL, better = MPI_COMM_NULL;
    if (PMPI_Comm_split(*comm, 0, rank, &moved) != MPI_SUCCESS) return false;
    const int remade = kind == MPI_CART    ? remake_cart(*comm, moved, &better)
                       : kind == MPI_GRAPH ? remake_graph(*comm, moved, &better)
                                           : remake_dist_graph(*comm, moved, mine, info, &better);
    int is_there = remade == MPI_SUCCESS;
    PMPI_Allreduce(MPI_IN_PLACE, &is_there, 1, MPI_INT, MPI_LAND, moved);
    PMPI_Comm_free(&moved);
    if (is_there) {
        PMPI_Comm_free(comm);
        *comm = better;
    } else if (better != MPI_COMM_NULL) {
        PMPI_Comm_free(&better);
    }
    return is_there;
}

int topoloom_topology_reorder(MPI_Comm* comm, MPI_Info info) {
    int kind = MPI_UNDEFINED;
    if (*comm == MPI_COMM_NULL) return MPI_SUCCESS;
    const int status = PMPI_Topo_test(*comm, &kind);
    if (status != MPI_SUCCESS || kind == MPI_UNDEFINED) return status;
    struct neighbors mine;
    MPI_Errhandler handler;
    // The program can do without our communicators; they inherit this.
    PMPI_Comm_get_errhandler(*comm, &handler);
    PMPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN);
    find_neighbors(*comm, kind, &mine);
    struct tally worth;
    const int rank = better_rank_for(*comm, &mine, &worth);
    if (rank < 0 || remake(comm, kind, &mine, info, rank))
        account(&worth);
    else
        account_lost(&worth, "MPI could not make the topology again in the better order");
    free(mine.ranks);
    PMPI_Comm_set_errhandler(*comm, handler);
    PMPI_Errhandler_free(&handler);
    return MPI_SUCCESS;
}

int topoloom_topology_reorder_f(MPI_Fint* comm, const MPI_Fint* info) {
    MPI_Comm made = PMPI_Comm_f2c(*comm);
    const int status = topoloom_topology_reorder(&made, PMPI_Info_f2c(*info));
    *comm = PMPI_Comm_c2f(made);
    return status;
}

static int reorder_made(int status, int reorder, MPI_Comm* made, MPI_Info info) {
    return status == MPI_SUCCESS && reorder ? topoloom_topology_reorder(made, info) : status;
}

int topoloom_cart_create(MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder,
                         MPI_Comm* comm_cart) {
    const int status = PMPI_Cart_create(comm, ndims, dims, periods, 0, comm_cart);
    return reorder_made(status, reorder, comm_cart, MPI_INFO_NULL);
}

int topoloom_graph_create(MPI_Comm comm, int nnodes, const int index[], const int edges[], int reorder,
                          MPI_Comm* comm_graph) {
    const int status = PMPI_Graph_create(comm, nnodes, index, edges, 0, comm_graph);
    return reorder_made(status, reorder, comm_graph, MPI_INFO_NULL);
}

int topoloom_dist_graph_create(MPI_Comm comm, int n, const int sources[], const int degrees[],
                               const int destinations[], const int weights[], MPI_Info info, int reorder,
                               MPI_Comm* comm_dist_graph) {
    const int status =
        PMPI_Dist_graph_create(comm, n, sources, degrees, destinations, weights, info, 0, comm_dist_graph);
    return reorder_made(status, reorder, comm_dist_graph, info);
}

int topoloom_dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int sources[],
                                        const int sourceweights[], int outdegree, const int destinations[],
                                        const int destweights[], MPI_Info info, int reorder,
                                        MPI_Comm* comm_dist_graph) {
    const int status = PMPI_Dist_graph_create_adjacent(comm, indegree, sources, sourceweights, outdegree,
                                                       destinations, destweights, info, 0, comm_dist_graph);
    return reorder_made(status, reorder, comm_dist_graph, info);
}
