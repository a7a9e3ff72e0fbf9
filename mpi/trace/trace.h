// SPDX-License-Identifier: BSD-3-Clause
// Records what this rank does in the calls of one communicator, and when.
#ifndef TOPOLOOM_TRACE_H
#define TOPOLOOM_TRACE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"

enum event_kind { event_call, event_copy, event_send, event_receive };

struct event {
    double begin, end;  // of this rank's clock
    int64_t bytes;      // messages only, as `peer`
    int32_t kind, round, peer, unused;
};

struct trace {
    char* file;  // owned
    struct event* events;
    size_t count, capacity;
    size_t posted;  // index of the first pending message
    int calls;      // written so far
    bool lacks_memory;
    struct common_clock clock;
};

/// NULL: no memory.
struct trace* make_trace(const char* file);
void free_trace(struct trace* trace);
/// True for the first 100 calls.
bool is_call_traced(const struct trace* trace);

void begin_trace(struct trace* trace);
void trace_copies(struct trace* trace, int round, double begin);
/// Call trace_message for the messages of a round in the order of their requests, then complete_traced_requests instead
/// of MPI_Waitall or MPI_Testall.
void begin_traced_messages(struct trace* trace);
void trace_message(struct trace* trace, enum event_kind kind, int round, int peer, int64_t bytes);
int complete_traced_requests(struct trace* trace, int count, MPI_Request requests[], bool wait, int* flag);

struct traced_call {
    const char *operation, *schedule;
    int64_t bytes;
};
/// Marks the end of the call on this rank.
void end_trace(struct trace* trace);
/// Rank 0 appends a line to the file. Events of ranks that lack memory are left out; without memory on rank 0, nothing is
/// written. Collective: all ranks must have ended the call, because this waits for them without driving it, and no message
/// may be pending with this tag. `call` is significant at rank 0. Returns an MPI error code.
int write_trace(struct trace* trace, const struct traced_call* call, MPI_Comm comm, int tag);

#endif
