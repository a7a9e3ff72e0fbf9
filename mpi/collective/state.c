// SPDX-License-Identifier: BSD-3-Clause
// What a communicator carries as an attribute: nothing is global but the key under which it is found.
#include <pthread.h>
#include <stdlib.h>

#include "collective.h"
#include "setup.h"

static void free_state(struct state* state) {
    free_setup(state);
    for (int i = 0; i < plan_count; ++i)
        if (state->plans[i] != NULL) release_plan(state->plans[i]);
    if (state->strategy != NULL) topoloom_strategy_free(state->strategy);
    pthread_mutex_destroy(&state->guard);
    free(state);
}

/// MPI calls it when the program frees the communicator.
static int forget(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)extra;
    struct state* state = value;
    if (state->setup == NULL && state->own != MPI_COMM_NULL) PMPI_Comm_free(&state->own);
    free_state(state);
    return MPI_SUCCESS;
}

static int attribute_key(int* key) {
    static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
    static int made = MPI_KEYVAL_INVALID;
    pthread_mutex_lock(&guard);
    int status = MPI_SUCCESS;
    if (made == MPI_KEYVAL_INVALID)
        status = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &made, NULL);
    *key = made;
    pthread_mutex_unlock(&guard);
    return status;
}

static int tag_half(MPI_Comm comm) {
    enum { least = 32767 };  // what every MPI has
    int* most = NULL;
    int found = 0;
    PMPI_Comm_get_attr(comm, MPI_TAG_UB, (void*)&most, &found);
    return ((found && *most > least ? *most : least) - 1) / 2;
}

static int make_state(MPI_Comm comm, int key, struct state** state) {
    struct state* made = calloc(1, sizeof *made);
    if (made == NULL) return MPI_ERR_NO_MEM;
    made->own = MPI_COMM_NULL;
    pthread_mutex_init(&made->guard, NULL);
    PMPI_Comm_rank(comm, &made->rank);
    PMPI_Comm_size(comm, &made->ranks);
    made->tag_half = tag_half(comm);
    int status = begin_setup(comm, made);
    if (status == MPI_SUCCESS) status = PMPI_Comm_set_attr(comm, key, made);
    if (status != MPI_SUCCESS) {
        free_state(made);
    } else {
        *state = made;
    }
    return status;
}

int find_state(MPI_Comm comm, struct state** state) {
    int key = MPI_KEYVAL_INVALID, found = 0;
    int status = attribute_key(&key);
    if (status == MPI_SUCCESS) status = PMPI_Comm_get_attr(comm, key, (void*)state, &found);
    if (status != MPI_SUCCESS || found) return status;
    int is_inter = 0;
    status = PMPI_Comm_test_inter(comm, &is_inter);
    if (status == MPI_SUCCESS && is_inter)
        return raise_error(comm, MPI_ERR_COMM, "collectives", "an intercommunicator is not served; use MPI's own");
    return status == MPI_SUCCESS ? make_state(comm, key, state) : status;
}
