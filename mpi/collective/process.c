// SPDX-License-Identifier: BSD-3-Clause
// What a process has under way. MPI frees it when the program finalizes MPI, while communicators can still be freed.
#include <stdatomic.h>
#include <stdlib.h>

#include "collective.h"

int attribute_key(_Atomic int* key, MPI_Comm_delete_attr_function* forget) {
    if (atomic_load(key) != MPI_KEYVAL_INVALID) return MPI_SUCCESS;
    // No lock is held meanwhile: where simulated processes are threads of one, a call of MPI may switch between them.
    int made = MPI_KEYVAL_INVALID, none = MPI_KEYVAL_INVALID;
    const int status = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &made, NULL);
    if (status != MPI_SUCCESS || atomic_compare_exchange_strong(key, &none, made)) return status;
    return PMPI_Comm_free_keyval(&made);
}

static bool drive(void* process) { return drive_active(process); }

static int forget_process(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)extra;
    struct process* process = value;
    stop_progress(&process->progress);
    for (struct state* state = process->states; state != NULL; state = state->next) {
        if (state->setup == NULL && state->own != MPI_COMM_NULL) PMPI_Comm_free(&state->own);
        state->process = NULL;
    }
    if (process->alone != MPI_COMM_NULL) PMPI_Comm_free(&process->alone);
    pthread_mutex_destroy(&process->guard);
    free(process);
    return MPI_SUCCESS;
}

static int find_or_make(bool threaded, struct process** process) {
    static _Atomic int key = MPI_KEYVAL_INVALID;
    int found = 0;
    int status = attribute_key(&key, forget_process);
    if (status == MPI_SUCCESS)
        status = PMPI_Comm_get_attr(MPI_COMM_SELF, atomic_load(&key), (void*)process, &found);
    if (status != MPI_SUCCESS || found) return status;
    struct process* made = calloc(1, sizeof *made);
    if (made == NULL) return MPI_ERR_NO_MEM;
    made->threaded = threaded;
    made->alone = MPI_COMM_NULL;
    pthread_mutex_init(&made->guard, NULL);
    make_progress(&made->progress, drive, made);
#ifdef SMPI_H
    made->state_key = MPI_KEYVAL_INVALID;
#else
    // Not a duplicate: that would copy the program's attributes.
    status = PMPI_Comm_split(MPI_COMM_SELF, 0, 0, &made->alone);
    if (status == MPI_SUCCESS) PMPI_Comm_set_errhandler(made->alone, MPI_ERRORS_RETURN);
#endif
    if (status == MPI_SUCCESS) status = PMPI_Comm_set_attr(MPI_COMM_SELF, atomic_load(&key), made);
    if (status != MPI_SUCCESS) {
        if (made->alone != MPI_COMM_NULL) PMPI_Comm_free(&made->alone);
        free(made);
    } else {
        *process = made;
    }
    return status;
}

int find_process(struct process** process) {
    static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    const bool threaded = level == MPI_THREAD_MULTIPLE;
    if (threaded) pthread_mutex_lock(&guard);
    const int status = find_or_make(threaded, process);
    if (threaded) pthread_mutex_unlock(&guard);
    return status;
}

int check_with_mpi(struct process* process, MPI_Datatype type, MPI_Op op) {
    if (process == NULL || process->alone == MPI_COMM_NULL) return MPI_SUCCESS;
    char nothing[1];
    int position = 0;
    lock_process(process);  // threads may not use a communicator at once
    const int status = op == MPI_OP_NULL
                           ? PMPI_Pack(nothing, 0, type, nothing, sizeof nothing, &position, process->alone)
                           : PMPI_Allreduce(MPI_IN_PLACE, NULL, 0, type, op, process->alone);
    unlock_process(process);
    return status;
}

void lock_process(struct process* process) {
    if (process->threaded) pthread_mutex_lock(&process->guard);
}

void unlock_process(struct process* process) {
    if (process->threaded) pthread_mutex_unlock(&process->guard);
}
