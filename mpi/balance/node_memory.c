// SPDX-License-Identifier: BSD-3-Clause
// Finds the ranks of each node, and allocates their shared memory. All memory for gathering is allocated here, where
// ranks can agree on failure. If a later allocation failed on one rank, other ranks would use outdated loads.
#include "node_memory.h"

#include <stdlib.h>
#include <string.h>

#include "errors.h"

static uint32_t get_min_node_size(const struct nodes* nodes) {
    int least = get_node_size(nodes, 0);
    for (int node = 1; node < nodes->count; ++node)
        if (get_node_size(nodes, node) < least) least = get_node_size(nodes, node);
    return (uint32_t)least;
}

/// Groups ranks by node. lowest[r] is the lowest rank on the node of rank r.
static void list_node_ranks(struct nodes* nodes, const int* lowest, const struct comm_state* state,
                            int* node_of) {
    for (int rank = 0; rank < state->ranks; ++rank)
        if (lowest[rank] == rank) node_of[rank] = nodes->count++;
    for (int rank = 0; rank < state->ranks; ++rank) {
        node_of[rank] = node_of[lowest[rank]];
        ++nodes->first[node_of[rank] + 1];
    }
    for (int node = 0; node < nodes->count; ++node) nodes->first[node + 1] += nodes->first[node];
    // Filling the ranges backward turns the end of each node's range into its beginning.
    for (int rank = state->ranks - 1; rank >= 0; --rank)
        nodes->member[--nodes->first[node_of[rank] + 1]] = rank;
    memmove(nodes->first, nodes->first + 1, (size_t)nodes->count * sizeof *nodes->first);
    nodes->first[nodes->count] = state->ranks;
    nodes->own = node_of[state->rank];
}

void free_node_mpi_objects(struct nodes* nodes) {
    if (nodes == NULL || nodes->comm == MPI_COMM_NULL) return;
    if (nodes->window != MPI_WIN_NULL) PMPI_Win_free(&nodes->window);
    nodes->shared = NULL;
    PMPI_Comm_free(&nodes->comm);
}

void free_nodes(struct nodes* nodes) {
    if (nodes == NULL) return;
    free(nodes->first);
    free(nodes->member);
    free(nodes->loads);
    // After a failure, MPI may still write to this memory.
    if (nodes->failures == 0) free(nodes->messages);
    free(nodes->requests);
    free(nodes->statuses);
    free(nodes);
}

/// Allocates shared memory on all nodes, or on none if memory is exhausted on one of them.
static int allocate_shared_memory(const struct comm_state* state, struct nodes* nodes) {
    const size_t bytes = sizeof(struct shared_loads) + 2 * (size_t)state->ranks * sizeof(int64_t);
    void* shared = NULL;
    MPI_Aint size = 0;
    int unit = 0, created[2] = {0, 0}, all[2] = {0, 0};  // window created, memory mapped
    PMPI_Comm_set_errhandler(nodes->comm, MPI_ERRORS_RETURN);
    created[0] = PMPI_Win_allocate_shared(nodes->local == 0 ? (MPI_Aint)bytes : 0, 1, MPI_INFO_NULL,
                                          nodes->comm, &shared, &nodes->window) == MPI_SUCCESS;
    created[1] = created[0] && PMPI_Win_shared_query(nodes->window, 0, &size, &unit, &shared) == MPI_SUCCESS;
    if (created[1] && nodes->local == 0) memset(shared, 0, bytes);
    // Also a barrier: no rank writes to the memory before it is zeroed.
    const int status = PMPI_Allreduce(created, all, 2, MPI_INT, MPI_MIN, state->own);
    if (status == MPI_SUCCESS && all[1]) nodes->shared = shared;
    // Freeing a window is collective, so all ranks of a node must free it or none.
    if (!all[0]) nodes->window = MPI_WIN_NULL;
    return status;
}

/// Raises an error on all ranks if memory is exhausted on one. Collective.
static int agree_on_memory(const struct comm_state* state, bool has_memory) {
    const int own = has_memory ? state->ranks : state->rank;
    int lowest = 0;
    const int status = PMPI_Allreduce(&own, &lowest, 1, MPI_INT, MPI_MIN, state->own);
    if (status != MPI_SUCCESS || lowest == state->ranks) return status;
    return raise_error(state->own, MPI_ERR_NO_MEM, "balance", "rank %d has not enough memory", lowest);
}

static int split_by_node(struct comm_state* state, struct nodes* created, int* lowest, int* node_of) {
    int own = state->rank;
    int status =
        PMPI_Comm_split_type(state->own, MPI_COMM_TYPE_SHARED, state->rank, MPI_INFO_NULL, &created->comm);
    if (status == MPI_SUCCESS) status = PMPI_Bcast(&own, 1, MPI_INT, 0, created->comm);
    if (status == MPI_SUCCESS) status = PMPI_Allgather(&own, 1, MPI_INT, lowest, 1, MPI_INT, state->own);
    if (status != MPI_SUCCESS) return status;
    PMPI_Comm_rank(created->comm, &created->local);
    list_node_ranks(created, lowest, state, node_of);
    return status;
}

int find_nodes(struct comm_state* state) {
    if (state->nodes != NULL) return MPI_SUCCESS;
    const size_t ranks = (size_t)state->ranks;
    struct nodes* created = calloc(1, sizeof *created);
    int *lowest = malloc(ranks * sizeof *lowest), *node_of = malloc(ranks * sizeof *node_of);
    bool has_memory = created != NULL && lowest != NULL && node_of != NULL;
    if (created != NULL) {
        *created = (struct nodes){.comm = MPI_COMM_NULL,
                                  .window = MPI_WIN_NULL,
                                  .first = calloc(ranks + 2, sizeof *created->first),
                                  .member = malloc(ranks * sizeof *created->member),
                                  .loads = malloc(ranks * sizeof *created->loads),
                                  .messages = malloc(ranks * sizeof *created->messages),
                                  .requests = malloc(2 * ranks * sizeof *created->requests),
                                  .statuses = malloc(2 * ranks * sizeof *created->statuses)};
        has_memory = has_memory && created->first != NULL && created->member != NULL &&
                     created->loads != NULL && created->messages != NULL && created->requests != NULL &&
                     created->statuses != NULL;
    }
    int status = agree_on_memory(state, has_memory);
    if (status == MPI_SUCCESS && created != NULL) status = split_by_node(state, created, lowest, node_of);
    free(lowest);
    free(node_of);
    if (status != MPI_SUCCESS) {
        free_nodes(created);
        return status;
    }
    state->nodes = created;
    const bool pays = topoloom_gathers_by_node((uint32_t)state->ranks, (uint32_t)created->count,
                                               get_min_node_size(created));
    return pays ? allocate_shared_memory(state, created) : status;
}

int choose_decision_method(struct comm_state* state, const topoloom_balance_options* options,
                           bool* should_gather) {
    const int status = find_nodes(state);
    if (status != MPI_SUCCESS) return status;
    const struct nodes* nodes = state->nodes;
    *should_gather = topoloom_gathers_loads((uint32_t)state->ranks, (uint32_t)nodes->count,
                                            get_min_node_size(nodes), options->message_s, options->byte_s);
    return status;
}
