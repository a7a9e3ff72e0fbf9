// SPDX-License-Identifier: BSD-3-Clause
// What a communicator carries as an attribute: nothing is global but the keys under which things are found.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "collective.h"
#include "learning.h"
#include "setup.h"

static void free_state(struct state* state) {
    free_learning(state);
    for (int i = 0; i < plan_count; ++i)
        if (state->plans[i] != NULL) release_plan(state->plans[i]);
    if (state->strategy != NULL) topoloom_strategy_free(state->strategy);
    free_trace(state->trace);
    pthread_mutex_destroy(&state->guard);
    free(state->members);
    free(state);
}

static void leave_process(struct state* state) {
    struct process* process = state->process;
    if (process == NULL) return;
    lock_process(process);
    struct state** at = &process->states;
    while (*at != NULL && *at != state) at = &(*at)->next;
    if (*at != NULL) *at = state->next;
    unlock_process(process);
}

void release_state(struct state* state) {
    if (__atomic_sub_fetch(&state->users, 1, __ATOMIC_ACQ_REL) > 0) return;
    struct state* whole = state->whole;
    leave_process(state);
    if (state->setup != NULL) return;  // MPI may still write to it
    if (whole == NULL && state->own != MPI_COMM_NULL) PMPI_Comm_free(&state->own);
    free_state(state);
    if (whole != NULL) release_state(whole);
}

struct state* make_line_state(struct state* whole, int rank, int ranks, int* members,
                              topoloom_strategy* strategy) {
    struct state* made = calloc(1, sizeof *made);
    if (made == NULL) return NULL;
    *made = (struct state){.process = whole->process,
                           .users = 1,
                           .own = whole->own,
                           .rank = rank,
                           .ranks = ranks,
                           .whole = whole,
                           .members = members,
                           .strategy = strategy,
                           .right_type = MPI_DATATYPE_NULL,
                           .right_op = MPI_OP_NULL,
                           .tag_half = whole->tag_half};
    pthread_mutex_init(&made->guard, NULL);
    __atomic_add_fetch(&whole->users, 1, __ATOMIC_RELAXED);
    return made;
}

/// MPI calls it when the program frees the communicator.
static int forget_state(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)extra;
    struct state* state = value;
#ifdef OPEN_MPI  // which needs a communicator until its duplicate is made; all ranks of a right call have begun it
    if (state->process != NULL) finish_setup(state);
#endif
    __atomic_store_n(&state->is_freed, true, __ATOMIC_RELAXED);
    release_state(state);
    return MPI_SUCCESS;
}

static int tag_half(MPI_Comm comm) {
    enum { least = 32767 };  // what every MPI has
    int* most = NULL;
    int found = 0;
    PMPI_Comm_get_attr(comm, MPI_TAG_UB, (void*)&most, &found);
    return ((found && *most > least ? *most : least) + 1 - exchange_tags) / 2;
}

/// Two threads may use different communicators for the first time at once, but not the same one.
static int make_state(MPI_Comm comm, int key, struct state** state) {
    struct process* process = NULL;
    int status = find_process(&process);
    if (status != MPI_SUCCESS) return status;
    struct state* made = calloc(1, sizeof *made);
    if (made == NULL) return MPI_ERR_NO_MEM;
    made->own = MPI_COMM_NULL;
    made->right_type = MPI_DATATYPE_NULL;
    made->right_op = MPI_OP_NULL;
    made->users = 1;
    pthread_mutex_init(&made->guard, NULL);
    PMPI_Comm_rank(comm, &made->rank);
    PMPI_Comm_size(comm, &made->ranks);
    made->tag_half = tag_half(comm);
    status = PMPI_Comm_set_attr(comm, key, made);
    if (status != MPI_SUCCESS) {
        free_state(made);
        return status;
    }
    lock_process(process);
    made->process = process;
    made->next = process->states;
    process->states = made;
    unlock_process(process);
    *state = made;
    return MPI_SUCCESS;
}

static int find_key(int* found) {
#ifdef SMPI_H  // whose ranks share MPI_COMM_WORLD with its attributes: each has a key of its own
    struct process* process = NULL;
    int status = find_process(&process);
    if (status != MPI_SUCCESS) return status;
    _Atomic int* key = &process->state_key;
    status = attribute_key(key, forget_state);
#else
    static _Atomic int own = MPI_KEYVAL_INVALID;
    _Atomic int* key = &own;
    const int status = attribute_key(key, forget_state);
#endif
    *found = atomic_load(key);
    return status;
}

int cannot_set_up(MPI_Comm comm, const char* name, int status) {
    int error_class = status;
    PMPI_Error_class(status, &error_class);
    return raise_error(comm, error_class, name, "the communicator cannot be set up");
}

int locate_state(MPI_Comm comm, struct state** state) {
    int key = MPI_KEYVAL_INVALID, found = 0;
    int status = find_key(&key);
    if (status == MPI_SUCCESS) status = PMPI_Comm_get_attr(comm, key, (void*)state, &found);
    if (status != MPI_SUCCESS || found) return status;
    int is_inter = 0;
    status = PMPI_Comm_test_inter(comm, &is_inter);
    if (status == MPI_SUCCESS && is_inter)
        return raise_error(comm, MPI_ERR_COMM, "collectives",
                           "an intercommunicator is not served; use MPI's own");
    if (status != MPI_SUCCESS) return status;
    status = make_state(comm, key, state);
    return status == MPI_SUCCESS ? status : cannot_set_up(comm, "collectives", status);
}

bool reserve_state(MPI_Comm comm, struct state** state) {
    int key = MPI_KEYVAL_INVALID, found = 0;
    if (find_key(&key) != MPI_SUCCESS || PMPI_Comm_get_attr(comm, key, (void*)state, &found) != MPI_SUCCESS)
        return false;
    if (!found && make_state(comm, key, state) != MPI_SUCCESS) return false;
    return (*state)->begun || reserve_setup(*state);
}

void forgo_state(MPI_Comm comm, struct state* state) {
    if (state == NULL || state->begun) return;
    free_setup(state);
    drop_state(comm);
}

int begin_state(MPI_Comm comm, struct state* state) {
    if (state->begun) return MPI_SUCCESS;
    const int status = begin_setup(comm, state);
    state->begun = status == MPI_SUCCESS;
    return status;
}

int find_state(MPI_Comm comm, struct state** state) {
    int status = locate_state(comm, state);
    if (status != MPI_SUCCESS) return status;
    status = begin_state(comm, *state);
    return status == MPI_SUCCESS ? status : cannot_set_up(comm, "collectives", status);
}

void drop_state(MPI_Comm comm) {
    int key = MPI_KEYVAL_INVALID;
    if (find_key(&key) == MPI_SUCCESS) PMPI_Comm_delete_attr(comm, key);
}

bool state_helps(struct state* state, enum topoloom_operation operation, int64_t bytes, bool in_rank_order,
                 double round_delay) {
    if (state->learner != NULL || state->trace != NULL) return true;  // the user wants to know of every call
    if (state->failed != MPI_SUCCESS) return true;
    struct gain* gain = &state->gains[operation];
    if (gain->known && gain->bytes == bytes && gain->in_rank_order == in_rank_order &&
        gain->round_delay == round_delay)
        return gain->helps;
    int helps = 0;
    char why[256];
    if (topoloom_strategy_helps(state->strategy, operation, bytes, in_rank_order, round_delay, &helps, why,
                                sizeof why)) {
        state->failed = MPI_ERR_NO_MEM;  // what else may be wrong is so on all ranks, and long known
        return true;
    }
    *gain = (struct gain){.known = true,
                          .in_rank_order = in_rank_order,
                          .helps = helps,
                          .bytes = bytes,
                          .round_delay = round_delay};
    return helps;
}

int schedule_of(struct state* state, const char* name, MPI_Comm comm, const char* operation, long long bytes,
                const char** schedule) {
    struct choice choice = {.bytes = bytes};
    char why[256];
    if (topoloom_operation_named(operation, &choice.operation, why, sizeof why) != 0)
        return raise_error(comm, MPI_ERR_ARG, name, "%s", why);
    pthread_mutex_lock(&state->guard);
    const bool chosen = choose_schedule(state, &choice, schedule, why, sizeof why);
    pthread_mutex_unlock(&state->guard);
    return chosen ? MPI_SUCCESS : raise_error(comm, MPI_ERR_ARG, name, "%s", why);
}

int topoloom_schedule_of(MPI_Comm comm, const char* operation, long long bytes, const char** schedule) {
    struct state* state = NULL;
    int status = find_state(comm, &state);
    if (status != MPI_SUCCESS) return status;
    status = finish_setup(state);
    if (status != MPI_SUCCESS) return cannot_set_up(comm, "schedule_of", status);
    return schedule_of(state, "schedule_of", comm, operation, bytes, schedule);
}
