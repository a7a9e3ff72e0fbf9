// SPDX-License-Identifier: BSD-3-Clause
// Lays out a mesh node by node: an item first hops to a rank of its own node, and then crosses the network once.
#include <stdlib.h>

#include "stream.h"

/// Gathers, for each rank, the first rank of its node.
static int gather_first_ranks(const struct stream* stream, int* firsts) {
    MPI_Comm node = MPI_COMM_NULL;
    int first = stream->rank;
    int status = PMPI_Comm_split_type(stream->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    if (status == MPI_SUCCESS) status = PMPI_Bcast(&first, 1, MPI_INT, 0, node);
    if (node != MPI_COMM_NULL) PMPI_Comm_free(&node);
    if (status != MPI_SUCCESS) return status;
    return PMPI_Allgather(&first, 1, MPI_INT, firsts, 1, MPI_INT, stream->comm);
}

/// Sorts ranks by node. Returns the number of ranks per node, or 0 if it differs between nodes.
static int sort_by_node(int ranks, const int* firsts, int* ends, int* order) {
    int per_node = 0;
    for (int i = 0; i < ranks; ++i) ends[i] = 0;
    for (int i = 0; i < ranks; ++i) ++ends[firsts[i]];
    for (int i = 0, begin = 0; i < ranks; ++i) {
        const int count = ends[i];
        if (count > 0) per_node = per_node == 0 || per_node == count ? count : -1;
        ends[i] = begin;
        begin += count;
    }
    for (int i = 0; i < ranks; ++i) order[ends[firsts[i]]++] = i;
    return per_node < 0 ? 0 : per_node;
}

/// The last axis covers one node, or several nodes if that makes the extents nearly equal.
void choose_extents_by_node(const struct stream* stream, int dimensions, int* extents) {
    const int ranks = stream->ranks, per_node = stream->ranks_per_node;
    choose_extents(ranks, dimensions, extents);
    if (dimensions == 1 || per_node < 2 || per_node == ranks) return;
    const int nodes = (extents[dimensions - 1] + per_node / 2) / per_node;
    extents[dimensions - 1] = per_node * (nodes > 0 ? nodes : 1);
    const int lines = (ranks + extents[dimensions - 1] - 1) / extents[dimensions - 1];
    choose_extents(lines, dimensions - 1, extents);
}

int find_rank_order(struct stream* stream, const topoloom_stream_options* options) {
    const int dimensions = options->dimensions;
    const bool may_be_mesh = dimensions == TOPOLOOM_STREAM_AUTO || (dimensions > 1 && dimensions <= max_axes);
    const bool is_open = may_be_mesh && options->extents == NULL && options->order == NULL;
    const int own[] = {is_open, !is_open};
    int any[2];
    int status = PMPI_Allreduce(own, any, 2, MPI_INT, MPI_MAX, stream->comm);
    if (status != MPI_SUCCESS || any[1])
        return status;  // differing options are detected later, by agree_on_creation()
    const size_t ranks = (size_t)stream->ranks;
    int* firsts = malloc(2 * ranks * sizeof *firsts);
    stream->order = malloc(ranks * sizeof *stream->order);
    if (firsts == NULL || stream->order == NULL) {
        free(firsts);
        return raise_error(stream->comm, MPI_ERR_NO_MEM, "stream_create", "not enough memory");
    }
    status = gather_first_ranks(stream, firsts);
    if (status == MPI_SUCCESS)
        stream->ranks_per_node = sort_by_node(stream->ranks, firsts, firsts + ranks, stream->order);
    free(firsts);
    return status;
}
