// SPDX-License-Identifier: BSD-3-Clause
// What this rank does in the calls of one communicator, and when.
#ifndef TOPOLOOM_TRACE_H
#define TOPOLOOM_TRACE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"

enum event_kind { in_call, copying, sending_to, receiving_from };

struct event {
    double begin, end;  // of this rank's clock
    int64_t bytes;      // of messages, as `round` and `peer`
    int32_t kind, round, peer, unused;
};

struct trace {
    char* file;  // owned
    struct event* events;
    size_t count, room;
    size_t posted;  // the first of the messages that are under way
    int calls;      // that have been written
    bool lacks_memory;
    struct common_clock clock;
};

/// NULL: no memory.
struct trace* make_trace(const char* file);
void free_trace(struct trace* trace);
/// Whether another call is to be traced: the first 100 are.
bool wants_call(const struct trace* trace);

void begin_trace(struct trace* trace);
void note_copies(struct trace* trace, int round, double begin);
/// Messages of a round, in the order of their requests; then `complete_traced` takes the place of MPI_Waitall or
/// MPI_Testall.
void begin_messages(struct trace* trace);
void note_message(struct trace* trace, enum event_kind kind, int round, int peer, int64_t bytes);
int complete_traced(struct trace* trace, int count, MPI_Request requests[], bool wait, int* flag);

struct traced_call {
    const char *operation, *schedule;
    int64_t bytes;
};
/// The call has ended on this rank.
void end_trace(struct trace* trace);
/// Rank 0 appends a line to the file, without what takes a rank too much memory, or none if that takes itself too much.
/// Collective, and all ranks must have ended the call, as they wait here for each other and for nothing else; nothing of the
/// call may be under way with this tag. `call` counts on rank 0. What MPI functions return.
int write_trace(struct trace* trace, const struct traced_call* call, MPI_Comm comm, int tag);

#endif
