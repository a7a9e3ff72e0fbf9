// SPDX-License-Identifier: BSD-3-Clause
// Records the copies and messages of this rank in the calls of one communicator, with times.
#ifndef TOPOLOOM_TRACE_H
#define TOPOLOOM_TRACE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"

enum trace_event_kind { event_call, event_copy, event_send, event_receive };

struct trace_event {
    double begin, end;  // times of this rank's clock in s
    int64_t bytes;      // bytes of a message; 0 for other events
    int32_t kind, round, peer, unused;
};

struct trace {
    char* file;  // owned
    struct trace_event* events;
    size_t count, capacity;
    size_t posted;  // index of the first pending message
    int calls;      // number of calls traced and written so far
    bool lacks_memory;
    struct common_clock clock;
};

/// Creates a trace. Returns NULL if memory is exhausted.
struct trace* make_trace(const char* file);
void free_trace(struct trace* trace);
/// Whether the next call is to be traced: true for the first 100 calls.
bool is_call_traced(const struct trace* trace);

void begin_trace(struct trace* trace);
void trace_copies(struct trace* trace, int round, double begin);
/// To trace a round: call begin_traced_messages, then trace_message for each message in the order of the requests, then
/// complete_traced_requests in place of MPI_Waitall or MPI_Testall.
void begin_traced_messages(struct trace* trace);
void trace_message(struct trace* trace, enum trace_event_kind kind, int round, int peer, int64_t bytes);
int complete_traced_requests(struct trace* trace, int count, MPI_Request requests[], bool wait, int* flag);

struct traced_call {
    const char *operation, *schedule;
    int64_t bytes;
};
/// Records the end of the call on this rank.
void end_trace(struct trace* trace);
/// Gathers the events, and appends them as a line to the file on rank 0. Omits events of ranks whose memory is
/// exhausted. If memory is exhausted on rank 0, writes no line. Collective. All ranks must have ended the call, because
/// this function waits for them without advancing the call. No message with this tag may be pending. `call` is
/// significant only at rank 0. Returns an MPI error code.
int write_trace(struct trace* trace, const struct traced_call* call, MPI_Comm comm, int tag);

#endif
