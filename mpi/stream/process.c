// SPDX-License-Identifier: BSD-3-Clause
// List of the streams of a process, stored as an attribute of MPI_COMM_SELF, because ranks simulated by SimGrid share
// global variables.
#include <stdatomic.h>
#include <stdlib.h>

#include "stream.h"

static int free_process_state(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)extra;
    struct process_state* process = value;
    for (struct stream* s = process->streams; s != NULL; s = s->next) s->process = NULL;
    free(process);
    return MPI_SUCCESS;
}

static int get_keyval(int* process_keyval) {
    static _Atomic int key = MPI_KEYVAL_INVALID;
    int status = MPI_SUCCESS;
    if (atomic_load(&key) == MPI_KEYVAL_INVALID) {
        int created = MPI_KEYVAL_INVALID, none = MPI_KEYVAL_INVALID;
        status = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_process_state, &created, NULL);
        if (status == MPI_SUCCESS && !atomic_compare_exchange_strong(&key, &none, created))
            status = PMPI_Comm_free_keyval(&created);
    }
    *process_keyval = atomic_load(&key);
    return status;
}

int register_stream(struct stream* stream) {
    struct process_state* process = NULL;
    int key = MPI_KEYVAL_INVALID, found = 0;
    int status = get_keyval(&key);
    if (status == MPI_SUCCESS) status = PMPI_Comm_get_attr(MPI_COMM_SELF, key, (void*)&process, &found);
    if (status != MPI_SUCCESS) return status;
    if (!found) {
        process = calloc(1, sizeof *process);
        if (process == NULL) return MPI_ERR_NO_MEM;
        status = PMPI_Comm_set_attr(MPI_COMM_SELF, key, process);
        if (status != MPI_SUCCESS) {
            free(process);
            return status;
        }
    }
    stream->process = process;
    stream->next = process->streams;
    process->streams = stream;
    return MPI_SUCCESS;
}

void unregister_stream(struct stream* stream) {
    if (stream->process == NULL) return;
    struct stream** link = &stream->process->streams;
    while (*link != stream) link = &(*link)->next;
    *link = stream->next;
}

bool is_process_in_handler(const struct stream* stream) {
    return stream->process != NULL && stream->process->handlers > 0;
}

void enter_handler(struct stream* stream) {
    stream->is_in_handler = true;
    if (stream->process != NULL) ++stream->process->handlers;
}

void leave_handler(struct stream* stream) {
    stream->is_in_handler = false;
    if (stream->process != NULL) --stream->process->handlers;
}
