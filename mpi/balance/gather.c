// SPDX-License-Identifier: BSD-3-Clause
// Gathers the loads of all ranks. Where nodes have many ranks, these share a board in their memory, and each exchanges with a share
// of the other nodes at once: one message between nodes, not log2 ranks one after another.
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "balance.h"
#include "errors.h"

/// What the ranks of a node share. Counters only grow, by the node's ranks in each gathering, so that none must set them back.
struct board {
    _Atomic int64_t written;  // own loads
    _Atomic int64_t came;     // what ranks get from other nodes
    int64_t loads[];          // by rank, of this gathering and of that before, which some may still read
};

struct nodes {
    MPI_Comm comm;        // of this node's ranks
    MPI_Win window;       // with the board
    struct board* board;  // NULL: MPI gathers
    int64_t gatherings;   // that were begun
    int local, own;       // this rank in the node, and the node's number
    int count;            // of nodes
    int *first, *member;  // by node, where its ranks begin in `member`; they ascend
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

/// In tenths of a message between nodes: each further one that a rank sends at once is about 3, what goes over the board 2.
static bool is_worth_it(const struct nodes* nodes, int ranks) {
    int most = 0;
    for (int node = 0; node < nodes->count; ++node) {
        const int size = size_of(nodes, node), sent = (nodes->count + size - 1) / size;
        if (sent > most) most = sent;
    }
    return nodes->count > 1 && 3LL * most + 12 < 10LL * rounds(ranks);
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
}

void close_nodes(struct nodes* nodes) {
    if (nodes == NULL || nodes->comm == MPI_COMM_NULL) return;
    if (nodes->window != MPI_WIN_NULL) PMPI_Win_free(&nodes->window);
    nodes->board = NULL;
    PMPI_Comm_free(&nodes->comm);
}

void free_nodes(struct nodes* nodes) {
    if (nodes == NULL) return;
    free(nodes->first);
    free(nodes->member);
    free(nodes);
}

/// Without a board where a node has no memory for it.
static int make_board(const struct state* state, struct nodes* nodes) {
    const size_t bytes = sizeof(struct board) + 2 * (size_t)state->ranks * sizeof(int64_t);
    void* board = NULL;
    MPI_Aint size = 0;
    int unit = 0, made = 0, all = 0;
    PMPI_Comm_set_errhandler(nodes->comm, MPI_ERRORS_RETURN);
    if (PMPI_Win_allocate_shared(nodes->local == 0 ? (MPI_Aint)bytes : 0, 1, MPI_INFO_NULL, nodes->comm,
                                 &board, &nodes->window) != MPI_SUCCESS)
        nodes->window = MPI_WIN_NULL;
    else
        made = PMPI_Win_shared_query(nodes->window, 0, &size, &unit, &board) == MPI_SUCCESS;
    if (made && nodes->local == 0) memset(board, 0, bytes);
    // Nobody writes before all know that the board is clean.
    const int status = PMPI_Allreduce(&made, &all, 1, MPI_INT, MPI_MIN, state->own);
    if (status == MPI_SUCCESS && all) nodes->board = board;
    return status;
}

static int find_nodes(struct state* state) {
    const size_t ranks = (size_t)state->ranks;
    struct nodes* made = calloc(1, sizeof *made);
    int *lowest = malloc(ranks * sizeof *lowest), *node_of = malloc(ranks * sizeof *node_of);
    int status = MPI_ERR_NO_MEM;
    if (made != NULL) {
        made->comm = MPI_COMM_NULL;
        made->window = MPI_WIN_NULL;
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
        if (is_worth_it(made, state->ranks)) status = make_board(state, made);
    } else {
        free_nodes(made);
    }
    free(lowest);
    free(node_of);
    return status;
}

/// Until a counter of the board is there.
static int wait_for(const struct state* state, const _Atomic int64_t* counter, int64_t least) {
    int status = MPI_SUCCESS, found = 0;
    while (atomic_load_explicit(counter, memory_order_acquire) < least && status == MPI_SUCCESS) {
        // MPI goes on with messages that are under way, and a rank that this one waits for may need the core.
        status = PMPI_Iprobe(MPI_ANY_SOURCE, gather_tag, state->own, &found, MPI_STATUS_IGNORE);
        sched_yield();
    }
    return status;
}

/// Exchanges this node's loads with a share of the other nodes, and writes theirs on the board. `came` has room for all ranks.
static int exchange(const struct state* state, const int64_t* own_loads, int64_t* came, int64_t* loads,
                    MPI_Request* requests) {
    const struct nodes* nodes = state->nodes;
    const int size = size_of(nodes, nodes->own);
    int status = MPI_SUCCESS, open = 0, at = 0;
    for (int node = 0; node < nodes->count && status == MPI_SUCCESS; ++node) {
        if (!serves(nodes, nodes->own, nodes->local, node)) continue;
        const int others = size_of(nodes, node),
                  peer = nodes->member[nodes->first[node] + nodes->own % others];
        status = PMPI_Irecv(came + at, others, MPI_INT64_T, peer, gather_tag, state->own, &requests[open++]);
        if (status == MPI_SUCCESS)
            status =
                PMPI_Isend(own_loads, size, MPI_INT64_T, peer, gather_tag, state->own, &requests[open++]);
        at += others;
    }
    if (status == MPI_SUCCESS) status = PMPI_Waitall(open, requests, MPI_STATUSES_IGNORE);
    for (int node = 0; node < nodes->count; ++node)
        for (int i = nodes->first[node];
             serves(nodes, nodes->own, nodes->local, node) && i < nodes->first[node + 1]; ++i)
            loads[nodes->member[i]] = *came++;
    return status;
}

static int gather_by_nodes(const struct state* state, int64_t load, int64_t* loads) {
    struct nodes* nodes = state->nodes;
    struct board* board = nodes->board;
    const size_t ranks = (size_t)state->ranks;
    const int size = size_of(nodes, nodes->own);
    int64_t* on_board = board->loads + (size_t)(nodes->gatherings % 2) * ranks;
    const int64_t all = ++nodes->gatherings * size;
    on_board[state->rank] = load;
    atomic_fetch_add_explicit(&board->written, 1, memory_order_release);
    int64_t* own_loads = malloc(((size_t)size + ranks) * sizeof *own_loads);
    MPI_Request* requests = malloc(2 * (size_t)nodes->count * sizeof(MPI_Request));
    int status =
        own_loads != NULL && requests != NULL ? wait_for(state, &board->written, all) : MPI_ERR_NO_MEM;
    if (status == MPI_SUCCESS) {
        for (int i = 0; i < size; ++i) own_loads[i] = on_board[nodes->member[nodes->first[nodes->own] + i]];
        status = exchange(state, own_loads, own_loads + size, on_board, requests);
    }
    if (status == MPI_ERR_NO_MEM) status = raise_error(state->own, status, "balance", "there is no memory");
    atomic_fetch_add_explicit(&board->came, 1, memory_order_release);
    if (status == MPI_SUCCESS) status = wait_for(state, &board->came, all);
    memcpy(loads, on_board, ranks * sizeof *loads);
    free(own_loads);
    free(requests);
    return status;
}

int gather_loads(struct state* state, int64_t load, int64_t* loads) {
    const int status = state->nodes != NULL ? MPI_SUCCESS : find_nodes(state);
    if (status != MPI_SUCCESS) return status;
    if (state->nodes->board != NULL) return gather_by_nodes(state, load, loads);
    return PMPI_Allgather(&load, 1, MPI_INT64_T, loads, 1, MPI_INT64_T, state->own);
}
