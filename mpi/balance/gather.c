// SPDX-License-Identifier: BSD-3-Clause
// Gathers the loads of all ranks. Where nodes have many ranks, these first gather among themselves, then each exchanges with a
// share of the other nodes at once, and again they gather what came: one message between nodes follows another, not log2 ranks.
#include <stdlib.h>
#include <string.h>

#include "balance.h"
#include "errors.h"

struct nodes {
    MPI_Comm comm;        // of this node's ranks
    int local, own;       // this rank in it, and its number among the nodes
    int count;            // of nodes
    int *first, *member;  // by node, where its ranks begin in `member`; they ascend
    int share;            // of what a rank of this node gets from others at most, in loads
    bool pays;            // gathering by nodes; if not, MPI gathers
};

static int size_of(const struct nodes* nodes, int node) {
    return nodes->first[node + 1] - nodes->first[node];
}

/// Whether rank `local` of a node has to do with another node.
static bool serves(const struct nodes* nodes, int node, int local, int other) {
    return node != other && other % size_of(nodes, node) == local;
}

static int rounds(int ranks) {
    int found = 0;
    while (found < 31 && (1U << found) < (unsigned)ranks) ++found;
    return found;
}

/// In tenths of a message between nodes: one inside is about 4, and each further one that a rank sends at once about 3.
static bool find_worth(const struct nodes* nodes, int ranks) {
    int largest = 0, most = 0;
    for (int node = 0; node < nodes->count; ++node) {
        const int size = size_of(nodes, node), sent = (nodes->count + size - 1) / size;
        if (size > largest) largest = size;
        if (sent > most) most = sent;
    }
    return nodes->count > 1 && 8 * rounds(largest) + 3LL * most + 10 < 10LL * rounds(ranks);
}

static int find_share(const struct nodes* nodes) {
    int share = 0;
    for (int local = 0; local < size_of(nodes, nodes->own); ++local) {
        int loads = 0;
        for (int node = 0; node < nodes->count; ++node)
            if (serves(nodes, nodes->own, local, node)) loads += size_of(nodes, node);
        if (loads > share) share = loads;
    }
    return share;
}

/// `lowest`: by rank, the lowest rank of its node.
static void list_members(struct nodes* nodes, const int* lowest, const struct state* state, int* node_of) {
    for (int rank = 0; rank < state->ranks; ++rank)
        if (lowest[rank] == rank) node_of[rank] = nodes->count++;
    for (int rank = 0; rank < state->ranks; ++rank) {
        node_of[rank] = node_of[lowest[rank]];
        ++nodes->first[node_of[rank] + 1];
    }
    for (int node = 0; node < nodes->count; ++node) nodes->first[node + 1] += nodes->first[node];
    // From the last rank on, ends become beginnings.
    for (int rank = state->ranks - 1; rank >= 0; --rank)
        nodes->member[--nodes->first[node_of[rank] + 1]] = rank;
    memmove(nodes->first, nodes->first + 1, (size_t)nodes->count * sizeof *nodes->first);
    nodes->first[nodes->count] = state->ranks;
    nodes->own = node_of[state->rank];
    nodes->share = find_share(nodes);
    nodes->pays = find_worth(nodes, state->ranks);
}

void free_nodes(struct nodes* nodes) {
    if (nodes == NULL) return;
    free(nodes->first);
    free(nodes->member);
    free(nodes);
}

MPI_Comm* comm_of_nodes(struct nodes* nodes) { return &nodes->comm; }

static int find_nodes(struct state* state) {
    const size_t ranks = (size_t)state->ranks;
    struct nodes* made = calloc(1, sizeof *made);
    int *lowest = malloc(ranks * sizeof *lowest), *node_of = malloc(ranks * sizeof *node_of);
    int status = MPI_ERR_NO_MEM;
    if (made != NULL) {
        made->comm = MPI_COMM_NULL;
        made->first = calloc(ranks + 2, sizeof *made->first);
        made->member = malloc(ranks * sizeof *made->member);
        if (lowest != NULL && node_of != NULL && made->first != NULL && made->member != NULL)
            status = PMPI_Comm_split_type(state->own, MPI_COMM_TYPE_SHARED, state->rank, MPI_INFO_NULL,
                                          &made->comm);
    }
    int own = state->rank;
    if (status == MPI_SUCCESS) status = PMPI_Bcast(&own, 1, MPI_INT, 0, made->comm);
    if (status == MPI_SUCCESS) status = PMPI_Allgather(&own, 1, MPI_INT, lowest, 1, MPI_INT, state->own);
    if (status == MPI_SUCCESS) {
        PMPI_Comm_rank(made->comm, &made->local);
        list_members(made, lowest, state, node_of);
        state->nodes = made;
    } else {
        free_nodes(made);
    }
    free(lowest);
    free(node_of);
    return status;
}

/// The arrays of one gathering.
struct gathering {
    MPI_Request* requests;
    int64_t *inside, *came, *all;  // of this node; from others; what came to the ranks of this node
};

static int gather_by_nodes(const struct state* state, int64_t load, int64_t* loads, struct gathering* at) {
    const struct nodes* nodes = state->nodes;
    const int size = size_of(nodes, nodes->own), own = nodes->own;
    int status = PMPI_Allgather(&load, 1, MPI_INT64_T, at->inside, 1, MPI_INT64_T, nodes->comm);
    int open = 0, room = 0;
    for (int node = 0; node < nodes->count && status == MPI_SUCCESS; ++node) {
        if (!serves(nodes, own, nodes->local, node)) continue;
        const int others = size_of(nodes, node), peer = nodes->member[nodes->first[node] + own % others];
        status = PMPI_Irecv(at->came + room, others, MPI_INT64_T, peer, gather_tag, state->own,
                            &at->requests[open++]);
        if (status == MPI_SUCCESS)
            status = PMPI_Isend(at->inside, size, MPI_INT64_T, peer, gather_tag, state->own,
                                &at->requests[open++]);
        room += others;
    }
    if (status == MPI_SUCCESS) status = PMPI_Waitall(open, at->requests, MPI_STATUSES_IGNORE);
    if (status == MPI_SUCCESS)
        status = PMPI_Allgather(at->came, nodes->share, MPI_INT64_T, at->all, nodes->share, MPI_INT64_T,
                                nodes->comm);
    for (int i = 0; i < size; ++i) loads[nodes->member[nodes->first[own] + i]] = at->inside[i];
    for (int local = 0; local < size; ++local) {
        const int64_t* from = at->all + (size_t)local * (size_t)nodes->share;
        for (int node = 0; node < nodes->count; ++node)
            for (int i = nodes->first[node]; serves(nodes, own, local, node) && i < nodes->first[node + 1];
                 ++i)
                loads[nodes->member[i]] = *from++;
    }
    return status;
}

int gather_loads(struct state* state, int64_t load, int64_t* loads) {
    int status = state->nodes != NULL ? MPI_SUCCESS : find_nodes(state);
    if (status != MPI_SUCCESS) return status;
    const struct nodes* nodes = state->nodes;
    if (!nodes->pays) return PMPI_Allgather(&load, 1, MPI_INT64_T, loads, 1, MPI_INT64_T, state->own);
    const size_t size = (size_t)size_of(nodes, nodes->own), share = (size_t)nodes->share;
    struct gathering at = {.requests = malloc(2 * (size_t)nodes->count * sizeof(MPI_Request)),
                           .inside = malloc(size * sizeof(int64_t)),
                           .came = calloc(share + 1, sizeof(int64_t)),
                           .all = malloc((size * share + 1) * sizeof(int64_t))};
    if (at.requests == NULL || at.inside == NULL || at.came == NULL || at.all == NULL)
        status = raise_error(state->own, MPI_ERR_NO_MEM, "balance", "there is no memory");
    else
        status = gather_by_nodes(state, load, loads, &at);
    free(at.requests);
    free(at.inside);
    free(at.came);
    free(at.all);
    return status;
}
