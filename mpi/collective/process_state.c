// SPDX-License-Identifier: BSD-3-Clause
// State of a process, stored as an attribute of MPI_COMM_SELF: MPI_Finalize frees it while communicators can still be
// freed.
#include <stdatomic.h>
#include <stdlib.h>

#include "collective.h"

int create_keyval_once(_Atomic int* keyval, MPI_Comm_delete_attr_function* delete_attribute) {
    if (atomic_load(keyval) != MPI_KEYVAL_INVALID) return MPI_SUCCESS;
    // Lock-free: a simulator may run processes as threads, and switch between them in an MPI call.
    int created = MPI_KEYVAL_INVALID, none = MPI_KEYVAL_INVALID;
    const int status = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_attribute, &created, NULL);
    if (status != MPI_SUCCESS || atomic_compare_exchange_strong(keyval, &none, created)) return status;
    return PMPI_Comm_free_keyval(&created);
}

static bool drive_process_calls(void* process) { return drive_active_calls(process); }

static int delete_process_state(MPI_Comm comm, int keyval, void* value, void* extra) {
    (void)comm, (void)keyval, (void)extra;
    struct process_state* process = value;
    stop_progress(&process->progress);
    for (struct comm_state* state = process->states; state != NULL; state = state->next) {
        if (state->setup == NULL && state->duplicate != MPI_COMM_NULL) PMPI_Comm_free(&state->duplicate);
        state->process = NULL;
    }
    if (process->self != MPI_COMM_NULL) PMPI_Comm_free(&process->self);
    pthread_mutex_destroy(&process->guard);
    free(process);
    return MPI_SUCCESS;
}

static int find_or_create_process_state(bool is_threaded, struct process_state** process) {
    static _Atomic int keyval = MPI_KEYVAL_INVALID;
    int found = 0;
    int status = create_keyval_once(&keyval, delete_process_state);
    if (status == MPI_SUCCESS)
        status = PMPI_Comm_get_attr(MPI_COMM_SELF, atomic_load(&keyval), (void*)process, &found);
    if (status != MPI_SUCCESS || found) return status;
    struct process_state* created = calloc(1, sizeof *created);
    if (created == NULL) return MPI_ERR_NO_MEM;
    created->is_threaded = is_threaded;
    created->self = MPI_COMM_NULL;
    pthread_mutex_init(&created->guard, NULL);
    init_progress(&created->progress, drive_process_calls, created);
#ifdef SMPI_H
    created->state_keyval = MPI_KEYVAL_INVALID;
#else
    // MPI_Comm_dup would copy the program's attributes
    status = PMPI_Comm_split(MPI_COMM_SELF, 0, 0, &created->self);
    if (status == MPI_SUCCESS) PMPI_Comm_set_errhandler(created->self, MPI_ERRORS_RETURN);
#endif
    if (status == MPI_SUCCESS) status = PMPI_Comm_set_attr(MPI_COMM_SELF, atomic_load(&keyval), created);
    if (status != MPI_SUCCESS) {
        if (created->self != MPI_COMM_NULL) PMPI_Comm_free(&created->self);
        free(created);
    } else {
        *process = created;
    }
    return status;
}

int get_process_state(struct process_state** process) {
    static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    const bool is_threaded = level == MPI_THREAD_MULTIPLE;
    if (is_threaded) pthread_mutex_lock(&guard);
    const int status = find_or_create_process_state(is_threaded, process);
    if (is_threaded) pthread_mutex_unlock(&guard);
    return status;
}

int check_type_and_op(struct process_state* process, MPI_Datatype type, MPI_Op op) {
    if (process == NULL || process->self == MPI_COMM_NULL) return MPI_SUCCESS;
    char nothing[1];
    int position = 0;
    lock_process(process);  // MPI forbids concurrent collectives on a communicator
    const int status = op == MPI_OP_NULL
                           ? PMPI_Pack(nothing, 0, type, nothing, sizeof nothing, &position, process->self)
                           : PMPI_Allreduce(MPI_IN_PLACE, NULL, 0, type, op, process->self);
    unlock_process(process);
    return status;
}
