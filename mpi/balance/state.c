// SPDX-License-Identifier: BSD-3-Clause
// What a communicator carries as an attribute: nothing is global but the key under which it is found.
#include <stdatomic.h>
#include <stdlib.h>

#include "balance.h"
#include "errors.h"

/// An attribute of MPI_COMM_SELF, which MPI frees first: by it duplicates end before MPI does.
struct process {
    struct state* states;
    int key;  // of communicators
};

static void free_comms(struct state* state) {
    close_nodes(state->nodes);
    if (state->own != MPI_COMM_NULL) PMPI_Comm_free(&state->own);
}

static void free_state(struct state* state) {
    if (state->process != NULL) {
        struct state** at = &state->process->states;
        while (*at != state) at = &(*at)->next;
        *at = state->next;
    }
    free_comms(state);
    free_nodes(state->nodes);
    topoloom_balancer_free(state->balancer);
    free(state->method);
    free(state->machine);
    free(state);
}

void hold_state(struct state* state) { ++state->users; }

void release_state(struct state* state) {
    if (--state->users == 0) free_state(state);
}

static int forget_state(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)extra;
    release_state(value);
    return MPI_SUCCESS;
}

static int forget_process(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)extra;
    struct process* process = value;
    for (struct state* state = process->states; state != NULL; state = state->next) {
        free_comms(state);
        state->process = NULL;
    }
    free(process);
    return MPI_SUCCESS;
}

static int find_process(struct process** process) {
    static _Atomic int key = MPI_KEYVAL_INVALID;
    int status = MPI_SUCCESS, found = 0;
    if (atomic_load(&key) == MPI_KEYVAL_INVALID) {
        int made = MPI_KEYVAL_INVALID, none = MPI_KEYVAL_INVALID;
        status = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_process, &made, NULL);
        if (status != MPI_SUCCESS) return status;
        if (!atomic_compare_exchange_strong(&key, &none, made)) PMPI_Comm_free_keyval(&made);
    }
    status = PMPI_Comm_get_attr(MPI_COMM_SELF, atomic_load(&key), (void*)process, &found);
    if (status != MPI_SUCCESS || found) return status;
    struct process* made = calloc(1, sizeof *made);
    if (made == NULL) return MPI_ERR_NO_MEM;
    // A key for each process: those that SimGrid simulates share MPI_COMM_WORLD with its attributes.
    status = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_state, &made->key, NULL);
    if (status == MPI_SUCCESS) status = PMPI_Comm_set_attr(MPI_COMM_SELF, atomic_load(&key), made);
    if (status != MPI_SUCCESS)
        free(made);
    else
        *process = made;
    return status;
}

static int duplicate(MPI_Comm comm, struct state* state) {
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

static int make_state(MPI_Comm comm, struct process* process, struct state** state) {
    int is_inter = 0;
    int status = PMPI_Comm_test_inter(comm, &is_inter);
    if (status != MPI_SUCCESS) return status;
    if (is_inter) return raise_error(comm, MPI_ERR_COMM, "balance", "an intercommunicator is not served");
    struct state* made = calloc(1, sizeof *made);
    if (made == NULL) return raise_error(comm, MPI_ERR_NO_MEM, "balance", "there is no memory");
    made->own = MPI_COMM_NULL;
    made->users = 1;
    status = duplicate(comm, made);
    if (status == MPI_SUCCESS) status = PMPI_Comm_set_attr(comm, process->key, made);
    if (status != MPI_SUCCESS) {
        free_state(made);
        return status;
    }
    made->process = process;
    made->next = process->states;
    process->states = made;
    *state = made;
    return status;
}

int find_state(MPI_Comm comm, struct state** state) {
    if (comm == MPI_COMM_NULL)
        return raise_error(MPI_COMM_WORLD, MPI_ERR_COMM, "balance",
                           "the communicator is MPI_COMM_NULL: freed, or never made");
    struct process* process = NULL;
    int found = 0;
    int status = find_process(&process);
    if (status == MPI_SUCCESS) status = PMPI_Comm_get_attr(comm, process->key, (void*)state, &found);
    if (status != MPI_SUCCESS || found) return status;
    return make_state(comm, process, state);
}
