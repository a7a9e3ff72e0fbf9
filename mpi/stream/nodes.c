// SPDX-License-Identifier: BSD-3-Clause
// Lays a mesh along the nodes: an item first goes to a rank of its own node, and then crosses the network once.
#include <stdlib.h>

#include "stream.h"

/// The first rank of the node of each.
static int find_nodes(const struct stream* stream, int* firsts) {
    MPI_Comm node = MPI_COMM_NULL;
    int first = stream->rank;
    int status = PMPI_Comm_split_type(stream->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    if (status == MPI_SUCCESS) status = PMPI_Bcast(&first, 1, MPI_INT, 0, node);
    if (node != MPI_COMM_NULL) PMPI_Comm_free(&node);
    if (status != MPI_SUCCESS) return status;
    return PMPI_Allgather(&first, 1, MPI_INT, firsts, 1, MPI_INT, stream->comm);
}

/// Ranks node by node, and how many each node has, or 0 if they are not equally many.
static int sort_by_node(int ranks, const int* firsts, int* ends, int* order) {
    int share = 0;
    for (int i = 0; i < ranks; ++i) ends[i] = 0;
    for (int i = 0; i < ranks; ++i) ++ends[firsts[i]];
    for (int i = 0, begin = 0; i < ranks; ++i) {
        const int count = ends[i];
        if (count > 0) share = share == 0 || share == count ? count : -1;
        ends[i] = begin;
        begin += count;
    }
    for (int i = 0; i < ranks; ++i) order[ends[firsts[i]]++] = i;
    return share < 0 ? 0 : share;
}

/// The last axis takes one node or several, by which extents become about equal.
void extents_along(const struct stream* stream, int dimensions, int* extents) {
    const int ranks = stream->ranks, share = stream->node_share;
    choose_extents(ranks, dimensions, extents);
    if (dimensions == 1 || share < 2 || share == ranks) return;
    const int nodes = (extents[dimensions - 1] + share / 2) / share;
    extents[dimensions - 1] = share * (nodes > 0 ? nodes : 1);
    const int lines = (ranks + extents[dimensions - 1] - 1) / extents[dimensions - 1];
    choose_extents(lines, dimensions - 1, extents);
}

int find_order(struct stream* stream, const topoloom_stream_options* options) {
    const int dimensions = options->dimensions;
    const bool may_be = dimensions == TOPOLOOM_STREAM_AUTO || (dimensions > 1 && dimensions <= most_axes);
    const bool is_open = may_be && options->extents == NULL && options->order == NULL;
    const int own[] = {is_open, !is_open};
    int any[2];
    int status = PMPI_Allreduce(own, any, 2, MPI_INT, MPI_MAX, stream->comm);
    if (status != MPI_SUCCESS || any[1]) return status;  // what differs is found when ranks agree
    const size_t ranks = (size_t)stream->ranks;
    int* firsts = malloc(2 * ranks * sizeof *firsts);
    stream->order = malloc(ranks * sizeof *stream->order);
    if (firsts == NULL || stream->order == NULL) {
        free(firsts);
        return raise_error(stream->comm, MPI_ERR_NO_MEM, "stream_create", "there is no memory");
    }
    status = find_nodes(stream, firsts);
    if (status == MPI_SUCCESS)
        stream->node_share = sort_by_node(stream->ranks, firsts, firsts + ranks, stream->order);
    free(firsts);
    return status;
}
