// SPDX-License-Identifier: BSD-3-Clause
// Stores the state of a communicator as an attribute, so that only the keyval is global.
#include <stdatomic.h>
#include <stdlib.h>

#include "balance.h"
#include "errors.h"

/// State of a process, stored as an attribute of MPI_COMM_SELF: MPI_Finalize deletes it first, when duplicates can
/// still be freed.
struct process_state {
    struct comm_state* states;
    int key;  // keyval of the communicator attributes that store the states
};

static void free_communicators(struct comm_state* state) {
    free_node_mpi_objects(state->nodes);
    if (state->own != MPI_COMM_NULL) PMPI_Comm_free(&state->own);
}

static void free_state(struct comm_state* state) {
    if (state->process != NULL) {
        struct comm_state** link = &state->process->states;
        while (*link != state) link = &(*link)->next;
        *link = state->next;
    }
    free_communicators(state);
    free_nodes(state->nodes);
    topoloom_balancer_free(state->balancer);
    free(state->method);
    free(state->machine);
    free(state);
}

void retain_state(struct comm_state* state) { ++state->users; }

void release_state(struct comm_state* state) {
    if (--state->users == 0) free_state(state);
}

static int delete_state(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)extra;
    release_state(value);
    return MPI_SUCCESS;
}

static int delete_process_state(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)extra;
    struct process_state* process = value;
    for (struct comm_state* state = process->states; state != NULL; state = state->next) {
        free_communicators(state);
        state->process = NULL;
    }
    free(process);
    return MPI_SUCCESS;
}

static int find_or_create_process_state(struct process_state** process) {
    static _Atomic int key = MPI_KEYVAL_INVALID;
    int status = MPI_SUCCESS, found = 0;
    if (atomic_load(&key) == MPI_KEYVAL_INVALID) {
        int created = MPI_KEYVAL_INVALID, none = MPI_KEYVAL_INVALID;
        status = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_process_state, &created, NULL);
        if (status != MPI_SUCCESS) return status;
        if (!atomic_compare_exchange_strong(&key, &none, created)) PMPI_Comm_free_keyval(&created);
    }
    status = PMPI_Comm_get_attr(MPI_COMM_SELF, atomic_load(&key), (void*)process, &found);
    if (status != MPI_SUCCESS || found) return status;
    struct process_state* created = calloc(1, sizeof *created);
    if (created == NULL) return MPI_ERR_NO_MEM;
    // One keyval per process: simulated processes (SimGrid) share MPI_COMM_WORLD and its attributes.
    status = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_state, &created->key, NULL);
    if (status == MPI_SUCCESS) status = PMPI_Comm_set_attr(MPI_COMM_SELF, atomic_load(&key), created);
    if (status != MPI_SUCCESS)
        free(created);
    else
        *process = created;
    return status;
}

static int duplicate_comm(MPI_Comm comm, struct comm_state* state) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    int status = PMPI_Comm_dup(comm, &state->own);
    if (status == MPI_SUCCESS) status = PMPI_Comm_get_errhandler(comm, &handler);
    if (status != MPI_SUCCESS) return status;
    status = PMPI_Comm_set_errhandler(state->own, handler);
    if (handler != MPI_ERRORS_ARE_FATAL && handler != MPI_ERRORS_RETURN) PMPI_Errhandler_free(&handler);
    PMPI_Comm_rank(state->own, &state->rank);
    PMPI_Comm_size(state->own, &state->ranks);
    return status;
}

static int make_state(MPI_Comm comm, struct process_state* process, struct comm_state** state) {
    int is_inter = 0;
    int status = PMPI_Comm_test_inter(comm, &is_inter);
    if (status != MPI_SUCCESS) return status;
    if (is_inter) return raise_error(comm, MPI_ERR_COMM, "balance", "intercommunicators are not supported");
    struct comm_state* created = calloc(1, sizeof *created);
    if (created == NULL) return raise_error(comm, MPI_ERR_NO_MEM, "balance", "not enough memory");
    created->own = MPI_COMM_NULL;
    created->users = 1;
    status = duplicate_comm(comm, created);
    if (status == MPI_SUCCESS) status = PMPI_Comm_set_attr(comm, process->key, created);
    if (status != MPI_SUCCESS) {
        free_state(created);
        return status;
    }
    created->process = process;
    created->next = process->states;
    process->states = created;
    *state = created;
    return status;
}

int find_or_create_state(MPI_Comm comm, struct comm_state** state) {
    if (comm == MPI_COMM_NULL)
        return raise_error(MPI_COMM_WORLD, MPI_ERR_COMM, "balance",
                           "the communicator is MPI_COMM_NULL: freed, or never created");
    struct process_state* process = NULL;
    int found = 0;
    int status = find_or_create_process_state(&process);
    if (status == MPI_SUCCESS) status = PMPI_Comm_get_attr(comm, process->key, (void*)state, &found);
    if (status != MPI_SUCCESS || found) return status;
    return make_state(comm, process, state);
}
