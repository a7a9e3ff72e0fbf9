// SPDX-License-Identifier: BSD-3-Clause
// State of a communicator, stored as its attribute. Only keyvals are global.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "collective.h"
#include "learner.h"
#include "setup.h"

// ---- lifetime ----------------------------------------------------------------------------------------------------

static void free_state(struct comm_state* state) {
    free_learner(state);
    for (int i = 0; i < plan_capacity; ++i)
        if (state->plans[i] != NULL) release_plan(state->plans[i]);
    for (int i = 0; i < operation_count; ++i)
        if (state->last_calls[i].plan != NULL) release_plan(state->last_calls[i].plan);
    if (state->strategy != NULL) topoloom_strategy_free(state->strategy);
    free_trace(state->trace);
    pthread_mutex_destroy(&state->guard);
    free(state->members);
    free(state);
}

static void remove_state_from_process(struct comm_state* state) {
    struct process_state* process = state->process;
    if (process == NULL) return;
    lock_process(process);
    struct comm_state** at = &process->states;
    while (*at != NULL && *at != state) at = &(*at)->next;
    if (*at != NULL) *at = state->next;
    unlock_process(process);
}

void release_state(struct comm_state* state) {
    if (__atomic_sub_fetch(&state->references, 1, __ATOMIC_ACQ_REL) > 0) return;
    struct comm_state* parent = state->parent;
    remove_state_from_process(state);
    if (state->setup != NULL) return;  // MPI may still write to it
    if (parent == NULL && state->duplicate != MPI_COMM_NULL) PMPI_Comm_free(&state->duplicate);
    free_state(state);
    if (parent != NULL) release_state(parent);
}

/// Called by MPI when the program frees the communicator.
static int delete_state(MPI_Comm comm, int keyval, void* value, void* extra) {
    (void)comm, (void)keyval, (void)extra;
    struct comm_state* state = value;
#ifdef OPEN_MPI  // needs a communicator until its duplicate is complete; all ranks of a correct call have begun it
    if (state->process != NULL) finish_setup(state);
#endif
    __atomic_store_n(&state->is_freed, true, __ATOMIC_RELAXED);
    release_state(state);
    return MPI_SUCCESS;
}

static int get_tags_per_kind(MPI_Comm comm) {
    enum { guaranteed_max = 32767 };  // minimum of MPI_TAG_UB in the MPI standard
    int* max = NULL;
    int found = 0;
    PMPI_Comm_get_attr(comm, MPI_TAG_UB, (void*)&max, &found);
    return ((found && *max > guaranteed_max ? *max : guaranteed_max) + 1 - exchange_tags) / 2;
}

static struct comm_state* create_state(int rank, int ranks, int tags_per_kind) {
    struct comm_state* state = calloc(1, sizeof *state);
    if (state == NULL) return NULL;
    state->references = 1;
    state->duplicate = MPI_COMM_NULL;
    state->rank = rank;
    state->ranks = ranks;
    state->tags_per_kind = tags_per_kind;
    state->checked_type = MPI_DATATYPE_NULL;
    state->checked_op = MPI_OP_NULL;
    pthread_mutex_init(&state->guard, NULL);
    return state;
}

/// Creates the state of a communicator. Threads may call this function concurrently, but only for different
/// communicators.
static int create_attached_state(MPI_Comm comm, int keyval, struct comm_state** state) {
    struct process_state* process = NULL;
    int status = get_process_state(&process);
    if (status != MPI_SUCCESS) return status;
    int rank = 0, ranks = 1;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    struct comm_state* created = create_state(rank, ranks, get_tags_per_kind(comm));
    if (created == NULL) return MPI_ERR_NO_MEM;
    status = PMPI_Comm_set_attr(comm, keyval, created);
    if (status != MPI_SUCCESS) {
        free_state(created);
        return status;
    }
    lock_process(process);
    created->process = process;
    created->next = process->states;
    process->states = created;
    unlock_process(process);
    *state = created;
    return MPI_SUCCESS;
}

struct comm_state* create_line_state(struct comm_state* parent, int rank, int ranks, int* members,
                                     topoloom_strategy* strategy) {
    struct comm_state* state = create_state(rank, ranks, parent->tags_per_kind);
    if (state == NULL) return NULL;
    state->process = parent->process;
    state->duplicate = parent->duplicate;
    state->parent = parent;
    state->members = members;
    state->strategy = strategy;
    __atomic_add_fetch(&parent->references, 1, __ATOMIC_RELAXED);
    return state;
}

// ---- lookup of a state -------------------------------------------------------------------------------------------

static int get_keyval(int* keyval) {
#ifdef SMPI_H  // whose ranks share MPI_COMM_WORLD and its attributes: each has a keyval of its own
    struct process_state* process = NULL;
    int status = get_process_state(&process);
    if (status != MPI_SUCCESS) return status;
    _Atomic int* shared = &process->state_keyval;
    status = create_keyval_once(shared, delete_state);
#else
    static _Atomic int created = MPI_KEYVAL_INVALID;
    _Atomic int* shared = &created;
    const int status = create_keyval_once(shared, delete_state);
#endif
    *keyval = atomic_load(shared);
    return status;
}

int raise_setup_error(MPI_Comm comm, const char* name, int status) {
    int error_class = status;
    PMPI_Error_class(status, &error_class);
    return raise_error(comm, error_class, name, "the communicator cannot be set up");
}

int attach_state(MPI_Comm comm, struct comm_state** state) {
    int keyval = MPI_KEYVAL_INVALID, found = 0;
    int status = get_keyval(&keyval);
    if (status == MPI_SUCCESS) status = PMPI_Comm_get_attr(comm, keyval, (void*)state, &found);
    if (status != MPI_SUCCESS || found) return status;
    int is_inter = 0;
    status = PMPI_Comm_test_inter(comm, &is_inter);
    if (status != MPI_SUCCESS) return status;
    if (is_inter)
        return raise_error(comm, MPI_ERR_COMM, "collectives",
                           "intercommunicators are not supported; use MPI's own collectives");
    status = create_attached_state(comm, keyval, state);
    return status == MPI_SUCCESS ? status : raise_setup_error(comm, "collectives", status);
}

int open_state(MPI_Comm comm, struct comm_state** state) {
    int status = attach_state(comm, state);
    if (status != MPI_SUCCESS) return status;
    status = begin_setup(comm, *state);
    return status == MPI_SUCCESS ? status : raise_setup_error(comm, "collectives", status);
}

bool reserve_state(MPI_Comm comm, struct comm_state** state) {
    int keyval = MPI_KEYVAL_INVALID, found = 0;
    if (get_keyval(&keyval) != MPI_SUCCESS ||
        PMPI_Comm_get_attr(comm, keyval, (void*)state, &found) != MPI_SUCCESS)
        return false;
    if (!found && create_attached_state(comm, keyval, state) != MPI_SUCCESS) return false;
    return (*state)->has_begun_setup || reserve_setup(*state);
}

void abandon_state(MPI_Comm comm, struct comm_state* state) {
    if (state == NULL || state->has_begun_setup) return;
    free_setup(state);
    detach_state(comm);
}

void detach_state(MPI_Comm comm) {
    int keyval = MPI_KEYVAL_INVALID;
    if (get_keyval(&keyval) == MPI_SUCCESS) PMPI_Comm_delete_attr(comm, keyval);
}

// ---- use ---------------------------------------------------------------------------------------------------------

int allocate_tag(struct comm_state* state, bool persistent) {
    int* next = persistent ? &state->next_persistent_tag : &state->next_tag;
    const int tag = *next + (persistent ? state->tags_per_kind : 0);
    *next = (*next + 1) % state->tags_per_kind;
    return tag;
}

bool is_faster_than_mpi(struct comm_state* state, enum topoloom_operation operation, int64_t bytes,
                        bool in_rank_order, double round_delay) {
    if (state->learner != NULL || state->trace != NULL)
        return true;  // learn= and trace= must observe every call
    if (state->error != MPI_SUCCESS) return true;
    struct cached_comparison* last = &state->comparisons[operation];
    if (last->is_known && last->bytes == bytes && last->in_rank_order == in_rank_order &&
        last->round_delay == round_delay)
        return last->is_faster;
    int is_faster = 0;
    char error[256];
    if (topoloom_strategy_saves_time(state->strategy, operation, bytes, in_rank_order, round_delay,
                                     &is_faster, error, sizeof error)) {
        state->error = MPI_ERR_NO_MEM;  // other errors occur on all ranks, before this call
        return true;
    }
    *last = (struct cached_comparison){.is_known = true,
                                       .in_rank_order = in_rank_order,
                                       .is_faster = is_faster,
                                       .bytes = bytes,
                                       .round_delay = round_delay};
    return is_faster;
}

int find_schedule(struct comm_state* state, const char* name, MPI_Comm comm, const char* operation,
                  long long bytes, const char** schedule) {
    struct schedule_query schedule_query = {.bytes = bytes};
    char error[256];
    if (topoloom_parse_operation(operation, &schedule_query.operation, error, sizeof error) != 0)
        return raise_error(comm, MPI_ERR_ARG, name, "%s", error);
    pthread_mutex_lock(&state->guard);
    const bool is_chosen = choose_schedule(state, &schedule_query, schedule, error, sizeof error);
    pthread_mutex_unlock(&state->guard);
    return is_chosen ? MPI_SUCCESS : raise_error(comm, MPI_ERR_ARG, name, "%s", error);
}

int topoloom_schedule_of(MPI_Comm comm, const char* operation, long long bytes, const char** schedule) {
    struct comm_state* state = NULL;
    int status = open_state(comm, &state);
    if (status != MPI_SUCCESS) return status;
    status = finish_setup(state);
    if (status != MPI_SUCCESS) return raise_setup_error(comm, "schedule_of", status);
    return find_schedule(state, "schedule_of", comm, operation, bytes, schedule);
}
