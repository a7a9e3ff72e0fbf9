// SPDX-License-Identifier: BSD-3-Clause
// Takes streams on: those of a process together, as a rank that waits for one may be what another rank waits for in
// another.
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "stream.h"

/// The streams of a process, where MPI keeps them for us: simulated processes share their memory.
struct process {
    struct stream* streams;
    int handlers;  // that run, one within another
};

static int end_process(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)extra;
    struct process* process = value;
    for (struct stream* s = process->streams; s != NULL; s = s->next) s->process = NULL;
    free(process);
    return MPI_SUCCESS;
}

static int find_key(int* found) {
    static _Atomic int key = MPI_KEYVAL_INVALID;
    int status = MPI_SUCCESS;
    if (atomic_load(&key) == MPI_KEYVAL_INVALID) {
        int made = MPI_KEYVAL_INVALID, none = MPI_KEYVAL_INVALID;
        status = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_process, &made, NULL);
        if (status == MPI_SUCCESS && !atomic_compare_exchange_strong(&key, &none, made))
            status = PMPI_Comm_free_keyval(&made);
    }
    *found = atomic_load(&key);
    return status;
}

int enter_process(struct stream* stream) {
    struct process* process = NULL;
    int key = MPI_KEYVAL_INVALID, found = 0;
    int status = find_key(&key);
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

void leave_process(struct stream* stream) {
    if (stream->process == NULL) return;
    struct stream** at = &stream->process->streams;
    while (*at != stream) at = &(*at)->next;
    *at = stream->next;
}

bool is_finalized(const struct stream* stream) { return stream->process == NULL; }

bool is_in_handler(const struct stream* stream) {
    return stream->process != NULL && stream->process->handlers > 0;
}

void begin_handler(struct stream* stream) {
    stream->in_handler = true;
    if (stream->process != NULL) ++stream->process->handlers;
}

void end_handler(struct stream* stream) {
    stream->in_handler = false;
    if (stream->process != NULL) --stream->process->handlers;
}

static int test_wave(struct stream* stream, bool* moved) {
    if (!stream->quiescence.in_wave) return MPI_SUCCESS;
    bool has_sums = false;
    const int status = end_of_wave(stream, &has_sums);
    if (status != MPI_SUCCESS || !has_sums) return status;
    stream->has_ended = end_wave(&stream->quiescence, stream->tree.sums);
    *moved = true;
    return stream->has_ended ? follow_choice(stream, stream->tree.sums) : MPI_SUCCESS;
}

/// A rank that has nothing to do sends what it has, and when it is done and all that is received joins a wave.
static int be_idle(struct stream* stream) {
    if (has_undelivered(stream)) return MPI_SUCCESS;
    if (has_unsent(stream)) return close_idle(stream);
    if (stream->quiescence.in_wave || !stream->is_done) return MPI_SUCCESS;
    struct quiescence joined = stream->quiescence;
    const struct tally* tally = &stream->tally;
    int64_t counts[wave_values] = {0, 0, tally->items, tally->bytes, tally->partners};
    join_wave(&joined, counts);
    bool begun = false;
    const int status = begin_wave(stream, counts, &begun);
    if (begun) stream->quiescence = joined;
    return status;
}

static int make_step(struct stream* stream, bool polls, bool* moved) {
    bool here = false;
    int status = test_wave(stream, moved);
    if (status == MPI_SUCCESS) status = complete_sends(stream, &here);
    // What comes now is of the next phase, and the program does not know yet that this one has ended.
    if (status == MPI_SUCCESS && stream->has_ended) return close_late(stream);
    if (status == MPI_SUCCESS) status = receive(stream, &here);
    if (status == MPI_SUCCESS) status = deliver_arrivals(stream, &here);
    if (status == MPI_SUCCESS) status = close_late(stream);
    if (status == MPI_SUCCESS && (stream->is_done || polls) && !here) status = be_idle(stream);
    if (status == MPI_SUCCESS) status = check_silence(stream, here);
    *moved = *moved || here;
    return status;
}

int step(struct stream* stream, bool polls, bool* moved) {
    if (stream->is_busy) return MPI_SUCCESS;
    stream->is_busy = true;
    const int status = make_step(stream, polls, moved);
    stream->is_busy = false;
    return status;
}

/// Simulated ranks are one process: to yield would let other programs run instead, for milliseconds on a busy machine.
static void let_others_run(void) {
#ifndef SMPI_H
    sched_yield();
#endif
}

int step_all(struct stream* stream, bool polls) {
    bool moved = false;
    int status = MPI_SUCCESS;
    struct stream* one = stream->process == NULL ? NULL : stream->process->streams;
    for (; one != NULL && status == MPI_SUCCESS; one = one->next)
        status = step(one, polls && one == stream, &moved);
    if (!moved) let_others_run();
    return status;
}
