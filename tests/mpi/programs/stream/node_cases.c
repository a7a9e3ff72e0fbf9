// SPDX-License-Identifier: BSD-3-Clause
// `node_cases DIMENSIONS`: in the standard mesh, the first hop of an item is to a rank of the same
// node. All nodes have the same number of ranks, about one extent of the mesh. Rank 0 prints the
// result.
#include <stdio.h>
#include <stdlib.h>

#include "stream.h"

static int take(void* context, const void* items, int count) {
    (void)context, (void)items;
    return count;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int ranks = 0, node = 0, nodes[256], right = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &node);
    MPI_Comm here;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Bcast(&node, 1, MPI_INT, 0, here);
    MPI_Comm_free(&here);
    MPI_Allgather(&node, 1, MPI_INT, nodes, 1, MPI_INT, MPI_COMM_WORLD);
    const topoloom_stream_options options = {.dimensions = atoi(argv[1])};
    topoloom_stream made = NULL;
    topoloom_stream_create(MPI_COMM_WORLD, 8, take, NULL, &options, &made);
    const struct stream* stream = (const struct stream*)made;
    const struct axis* last = &stream->axes[stream->axis_count - 1];
    int own = 0;
    for (int i = 0; i < ranks; ++i) own += nodes[i] == node;
    right = stream->axis_count == options.dimensions && last->hop_count == own;
    for (int h = last->first_hop; h < last->first_hop + last->hop_count; ++h)
        right = right && nodes[stream->hops[h].rank] == node;
    topoloom_stream_free(&made);
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &node);
    if (node == 0) fputs(right ? "first hops stay on the node\n" : "WRONG\n", stdout);
    MPI_Finalize();
    return right ? 0 : 1;
}
