// SPDX-License-Identifier: BSD-3-Clause
// Gathers the loads of all ranks. Where nodes have many ranks, these share a board in their memory, and each exchanges with a share
// of the other nodes at once: one message between nodes, not log2 ranks one after another. No rank decides on loads of which some
// have not come: a node in which MPI fails for a rank refuses, and says so to the others by messages without loads.
#include <sched.h>
#include <string.h>

#include "errors.h"
#include "nodes.h"

/// Whether rank `local` of a node has to do with another node.
static bool serves(const struct nodes* nodes, int node, int local, int other) {
    return node != other && other % size_of(nodes, node) == local;
}

static int peer_of(const struct nodes* nodes, int node) {
    return nodes->member[nodes->first[node] + nodes->own % size_of(nodes, node)];
}

static bool has_failed(const struct nodes* nodes) {
    const int64_t failed_in = atomic_load_explicit(&nodes->board->failed_in, memory_order_acquire);
    return failed_in != 0 && failed_in <= nodes->gatherings;
}

static void note_failure(const struct state* state) {
    struct board* board = state->nodes->board;
    int64_t none = 0;
    if (atomic_load(&board->failed_in) != 0) return;
    atomic_store(&board->failed_rank, state->rank);
    atomic_compare_exchange_strong(&board->failed_in, &none, state->nodes->gatherings);
}

/// Until a counter of the board is there, or a rank of the node fails.
static int wait_for(const struct state* state, const _Atomic int64_t* counter, int64_t least) {
    int status = MPI_SUCCESS, found = 0;
    while (atomic_load_explicit(counter, memory_order_acquire) < least && status == MPI_SUCCESS &&
           !has_failed(state->nodes)) {
        // MPI goes on with messages that are under way, and a rank that this one waits for may need the core.
        status = PMPI_Iprobe(MPI_ANY_SOURCE, gather_tag, state->own, &found, MPI_STATUS_IGNORE);
        sched_yield();
    }
    return status;
}

/// Says so to the nodes from `next` on that this rank serves; they wait for its loads, but it for nothing any more.
static void send_nothing(const struct state* state, int next) {
    const struct nodes* nodes = state->nodes;
    MPI_Request sent = MPI_REQUEST_NULL;
    for (int node = next; node < nodes->count; ++node)
        if (serves(nodes, nodes->own, nodes->local, node) &&
            PMPI_Isend(NULL, 0, MPI_INT64_T, peer_of(nodes, node), gather_tag, state->own, &sent) ==
                MPI_SUCCESS)
            PMPI_Request_free(&sent);
}

/// Exchanges this node's loads with a share of the other nodes, and writes theirs on the board.
static int exchange(const struct state* state, const int64_t* own_loads, int64_t* came, int64_t* loads) {
    const struct nodes* nodes = state->nodes;
    const int size = size_of(nodes, nodes->own);
    int open = 0;
    int64_t* at = came;
    for (int node = 0; node < nodes->count; ++node) {
        if (!serves(nodes, nodes->own, nodes->local, node)) continue;
        MPI_Request* requests = &nodes->requests[open];
        const int others = size_of(nodes, node), peer = peer_of(nodes, node);
        int status = PMPI_Irecv(at, others, MPI_INT64_T, peer, gather_tag, state->own, &requests[0]);
        if (status == MPI_SUCCESS)
            status = PMPI_Isend(own_loads, size, MPI_INT64_T, peer, gather_tag, state->own, &requests[1]);
        if (status != MPI_SUCCESS) {
            send_nothing(state, node);
            return status;
        }
        open += 2;
        at += others;
    }
    const int status = PMPI_Waitall(open, nodes->requests, nodes->statuses);
    if (status != MPI_SUCCESS) return status;
    open = 0;
    for (int node = 0; node < nodes->count; ++node) {
        if (!serves(nodes, nodes->own, nodes->local, node)) continue;
        int count = 0;
        PMPI_Get_count(&nodes->statuses[open], MPI_INT64_T, &count);
        if (count == 0) return MPI_ERR_OTHER;
        for (int i = nodes->first[node]; i < nodes->first[node + 1]; ++i) loads[nodes->member[i]] = *came++;
        open += 2;
    }
    return status;
}

/// Says, of all ranks of the node, that loads have not come; from then on in each gathering.
static int refuse(const struct state* state) {
    return raise_error(state->own, MPI_ERR_OTHER, "balance",
                       "the loads of all ranks cannot be gathered: MPI has failed for rank %d, or for a node "
                       "that it gathers from",
                       atomic_load(&state->nodes->board->failed_rank));
}

static int gather_by_nodes(const struct state* state, int64_t load) {
    struct nodes* nodes = state->nodes;
    struct board* board = nodes->board;
    // What has not been said to all nodes in the first refusal is in the second.
    if (nodes->refusals > 1) return refuse(state);
    const size_t ranks = (size_t)state->ranks;
    const int size = size_of(nodes, nodes->own);
    int64_t* on_board = board->loads + (size_t)(nodes->gatherings % 2) * ranks;
    int64_t* own_loads = nodes->messages;
    const int64_t all = ++nodes->gatherings * size;
    on_board[state->rank] = load;
    atomic_fetch_add_explicit(&board->written, 1, memory_order_release);
    int status = wait_for(state, &board->written, all);
    if (status != MPI_SUCCESS || has_failed(nodes)) {
        send_nothing(state, 0);
    } else {
        for (int i = 0; i < size; ++i) own_loads[i] = on_board[nodes->member[nodes->first[nodes->own] + i]];
        status = exchange(state, own_loads, own_loads + size, on_board);
    }
    if (status != MPI_SUCCESS) note_failure(state);
    atomic_fetch_add_explicit(&board->came, 1, memory_order_release);
    if (status == MPI_SUCCESS) status = wait_for(state, &board->came, all);
    if (status != MPI_SUCCESS || has_failed(nodes)) {
        ++nodes->refusals;
        return refuse(state);
    }
    memcpy(nodes->loads, on_board, ranks * sizeof *nodes->loads);
    return status;
}

int gather_loads(struct state* state, int64_t load, const int64_t** loads) {
    const int status = know_nodes(state);
    if (status != MPI_SUCCESS) return status;
    *loads = state->nodes->loads;
    if (state->nodes->board != NULL) return gather_by_nodes(state, load);
    return PMPI_Allgather(&load, 1, MPI_INT64_T, state->nodes->loads, 1, MPI_INT64_T, state->own);
}
