// SPDX-License-Identifier: BSD-3-Clause
// Gathers the loads of all ranks. On nodes with many ranks, ranks share memory, and each rank exchanges loads with some
// of the other nodes: one inter-node step instead of log2 P. No rank decides on incomplete loads: if MPI fails on a
// rank, all ranks of its node fail, and send empty messages to other nodes.
#include <sched.h>
#include <string.h>

#include "errors.h"
#include "node_memory.h"

/// Whether this rank exchanges loads with a node.
static bool is_assigned_node(const struct nodes* nodes, int node) {
    return node != nodes->own && node % get_node_size(nodes, nodes->own) == nodes->local;
}

/// The rank of another node with which this rank exchanges loads.
static int get_peer_rank(const struct nodes* nodes, int node) {
    return nodes->member[nodes->first[node] + nodes->own % get_node_size(nodes, node)];
}

static bool has_failed(const struct nodes* nodes) {
    const int64_t failed_in = atomic_load_explicit(&nodes->shared->failed_in, memory_order_acquire);
    return failed_in != 0 && failed_in <= nodes->gatherings;
}

static void record_failure(const struct comm_state* state) {
    struct shared_loads* shared = state->nodes->shared;
    int64_t none = 0;
    if (atomic_load(&shared->failed_in) != 0) return;
    atomic_store(&shared->failed_rank, state->rank);
    atomic_compare_exchange_strong(&shared->failed_in, &none, state->nodes->gatherings);
}

/// Waits until a counter reaches a value, or a rank of this node fails.
static int wait_for_counter(const struct comm_state* state, const _Atomic int64_t* counter, int64_t value) {
    int status = MPI_SUCCESS, found = 0;
    while (atomic_load_explicit(counter, memory_order_acquire) < value && status == MPI_SUCCESS &&
           !has_failed(state->nodes)) {
        // The probe drives MPI's progress. The other rank may need this core, so yield.
        status = PMPI_Iprobe(MPI_ANY_SOURCE, gather_tag, state->own, &found, MPI_STATUS_IGNORE);
        sched_yield();
    }
    return status;
}

/// Sends empty messages to the nodes, from `first` on, that expect loads from this rank.
static void notify_failure(const struct comm_state* state, int first) {
    const struct nodes* nodes = state->nodes;
    MPI_Request sent = MPI_REQUEST_NULL;
    for (int node = first; node < nodes->count; ++node)
        if (is_assigned_node(nodes, node) && PMPI_Isend(NULL, 0, MPI_INT64_T, get_peer_rank(nodes, node),
                                                        gather_tag, state->own, &sent) == MPI_SUCCESS)
            PMPI_Request_free(&sent);
}

/// Exchanges loads with the nodes assigned to this rank, and stores the received loads in `loads`.
static int exchange_loads(const struct comm_state* state, const int64_t* own_loads, int64_t* received,
                          int64_t* loads) {
    const struct nodes* nodes = state->nodes;
    const int size = get_node_size(nodes, nodes->own);
    int count = 0;
    int64_t* at = received;
    for (int node = 0; node < nodes->count; ++node) {
        if (!is_assigned_node(nodes, node)) continue;
        MPI_Request* requests = &nodes->requests[count];
        const int others = get_node_size(nodes, node), peer = get_peer_rank(nodes, node);
        int status = PMPI_Irecv(at, others, MPI_INT64_T, peer, gather_tag, state->own, &requests[0]);
        if (status == MPI_SUCCESS)
            status = PMPI_Isend(own_loads, size, MPI_INT64_T, peer, gather_tag, state->own, &requests[1]);
        if (status != MPI_SUCCESS) {
            notify_failure(state, node);
            return status;
        }
        count += 2;
        at += others;
    }
    const int status = PMPI_Waitall(count, nodes->requests, nodes->statuses);
    if (status != MPI_SUCCESS) return status;
    count = 0;
    for (int node = 0; node < nodes->count; ++node) {
        if (!is_assigned_node(nodes, node)) continue;
        int received_count = 0;
        PMPI_Get_count(&nodes->statuses[count], MPI_INT64_T, &received_count);
        if (received_count == 0) return MPI_ERR_OTHER;
        for (int i = nodes->first[node]; i < nodes->first[node + 1]; ++i)
            loads[nodes->member[i]] = *received++;
        count += 2;
    }
    return status;
}

/// Raises the error on all ranks of this node, in this gathering and all later ones.
static int raise_failure(const struct comm_state* state) {
    return raise_error(state->own, MPI_ERR_OTHER, "balance",
                       "cannot gather the loads of all ranks: MPI failed on rank %d, or on a node that it "
                       "gathers from",
                       atomic_load(&state->nodes->shared->failed_rank));
}

static int gather_in_shared_memory(const struct comm_state* state, int64_t load) {
    struct nodes* nodes = state->nodes;
    struct shared_loads* shared = nodes->shared;
    // Nodes not notified by the first failed gathering are notified by the second.
    if (nodes->failures > 1) return raise_failure(state);
    const size_t ranks = (size_t)state->ranks;
    const int size = get_node_size(nodes, nodes->own);
    int64_t* all_loads = shared->loads + (size_t)(nodes->gatherings % 2) * ranks;
    int64_t* own_loads = nodes->messages;
    const int64_t complete = ++nodes->gatherings * size;
    all_loads[state->rank] = load;
    atomic_fetch_add_explicit(&shared->written, 1, memory_order_release);
    int status = wait_for_counter(state, &shared->written, complete);
    if (status != MPI_SUCCESS || has_failed(nodes)) {
        notify_failure(state, 0);
    } else {
        for (int i = 0; i < size; ++i) own_loads[i] = all_loads[nodes->member[nodes->first[nodes->own] + i]];
        status = exchange_loads(state, own_loads, own_loads + size, all_loads);
    }
    if (status != MPI_SUCCESS) record_failure(state);
    atomic_fetch_add_explicit(&shared->received, 1, memory_order_release);
    if (status == MPI_SUCCESS) status = wait_for_counter(state, &shared->received, complete);
    if (status != MPI_SUCCESS || has_failed(nodes)) {
        ++nodes->failures;
        return raise_failure(state);
    }
    memcpy(nodes->loads, all_loads, ranks * sizeof *nodes->loads);
    return status;
}

int gather_loads(struct comm_state* state, int64_t load, const int64_t** loads) {
    const int status = find_nodes(state);
    if (status != MPI_SUCCESS) return status;
    *loads = state->nodes->loads;
    if (state->nodes->shared != NULL) return gather_in_shared_memory(state, load);
    return PMPI_Allgather(&load, 1, MPI_INT64_T, state->nodes->loads, 1, MPI_INT64_T, state->own);
}
