// SPDX-License-Identifier: BSD-3-Clause
#define _GNU_SOURCE
#include "trace.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { max_calls = 100 };

struct trace* make_trace(const char* file) {
    struct trace* trace = calloc(1, sizeof *trace);
    if (trace != NULL) trace->file = strdup(file);
    if (trace != NULL && trace->file != NULL) return trace;
    free(trace);
    return NULL;
}

void free_trace(struct trace* trace) {
    if (trace == NULL) return;
    free(trace->events);
    free(trace->file);
    free(trace);
}

bool is_call_traced(const struct trace* trace) { return trace->calls < max_calls; }

static void add_event(struct trace* trace, struct trace_event event) {
    if (trace->count == trace->capacity) {
        const size_t capacity = trace->capacity == 0 ? 256 : 2 * trace->capacity;
        struct trace_event* larger = realloc(trace->events, capacity * sizeof *larger);
        if (larger == NULL) {
            trace->lacks_memory = true;
            return;
        }
        trace->events = larger;
        trace->capacity = capacity;
    }
    trace->events[trace->count++] = event;
}

void begin_trace(struct trace* trace) {
    trace->count = 0;
    trace->lacks_memory = false;
    add_event(trace, (struct trace_event){.kind = event_call, .begin = PMPI_Wtime()});
}

void trace_copies(struct trace* trace, int round, double begin) {
    add_event(trace,
              (struct trace_event){.kind = event_copy, .round = round, .begin = begin, .end = PMPI_Wtime()});
}

void begin_traced_messages(struct trace* trace) { trace->posted = trace->count; }

void trace_message(struct trace* trace, enum trace_event_kind kind, int round, int peer, int64_t bytes) {
    add_event(trace, (struct trace_event){
                         .kind = kind, .round = round, .peer = peer, .bytes = bytes, .begin = PMPI_Wtime()});
}

int complete_traced_requests(struct trace* trace, int count, MPI_Request requests[], bool wait, int* flag) {
    // MPI_Waitsome is avoided: in SimGrid it polls only every 0.1 ms
    for (;;) {
        int which = MPI_UNDEFINED, found = 1;
        const int status = wait ? PMPI_Waitany(count, requests, &which, MPI_STATUS_IGNORE)
                                : PMPI_Testany(count, requests, &which, &found, MPI_STATUS_IGNORE);
        *flag = found && which == MPI_UNDEFINED;
        if (status != MPI_SUCCESS || !found || *flag) return status;
        if (trace->posted + (size_t)which < trace->count)
            trace->events[trace->posted + (size_t)which].end = PMPI_Wtime();
    }
}

/// Broadcasts the value of rank 0.
static int broadcast_memory_status(bool* has_memory, MPI_Comm comm) {
    int has = *has_memory;
    const int status = PMPI_Bcast(&has, 1, MPI_INT, 0, comm);
    *has_memory = has;
    return status;
}

/// Gathers the events of all ranks, in rank order. `counts` is the number of bytes per rank. `all` is NULL if memory is
/// exhausted, and on ranks other than 0.
static int gather_events(const struct trace* trace, MPI_Comm comm, int rank, int ranks, int** counts,
                         struct trace_event** all) {
    const size_t bytes = trace->count * sizeof *trace->events;
    const int own = trace->lacks_memory || bytes > (size_t)(INT_MAX / ranks) ? 0 : (int)bytes;
    if (rank == 0) *counts = malloc(2 * (size_t)ranks * sizeof **counts);
    bool has_memory = *counts != NULL;
    int status = broadcast_memory_status(&has_memory, comm);
    if (status != MPI_SUCCESS || !has_memory) return status;
    status = PMPI_Gather(&own, 1, MPI_INT, *counts, 1, MPI_INT, 0, comm);
    int* displacements = NULL;
    if (status == MPI_SUCCESS && rank == 0) {
        displacements = *counts + ranks;
        int sum = 0;
        for (int r = 0; r < ranks; ++r) {
            displacements[r] = sum;
            sum += (*counts)[r];
        }
        *all = malloc((size_t)sum + 1);
    }
    has_memory = *all != NULL;
    if (status == MPI_SUCCESS) status = broadcast_memory_status(&has_memory, comm);
    if (status != MPI_SUCCESS || !has_memory) return status;
    return PMPI_Gatherv(trace->events, own, MPI_BYTE, *all, *counts, displacements, MPI_BYTE, 0, comm);
}

static void print_events(FILE* stream, const struct traced_call* call, int ranks, const int* counts,
                         const struct trace_event* event) {
    static const char* const kinds[] = {"call", "copy", "send", "receive"};
    fprintf(stream,
            "{\"format\": \"topoloom-trace\", \"version\": 1, \"operation\": \"%s\", \"schedule\": \"%s\", "
            "\"bytes\": %lld, \"ranks\": %d, \"events\": [",
            call->operation, call->schedule, (long long)call->bytes, ranks);
    const char* separator = "";
    for (int r = 0; r < ranks; ++r) {
        for (size_t i = 0; i < (size_t)counts[r] / sizeof *event; ++i, ++event) {
            fprintf(stream, "%s[%d, \"%s\", %d, %d, %lld, %.9f, %.9f]", separator, r, kinds[event->kind],
                    event->round, event->peer, (long long)event->bytes, event->begin, event->end);
            separator = ", ";
        }
    }
    fputs("]}\n", stream);
}

/// Appends a line by a single write, because other communicators may write to the same file.
static void append_trace_line(const struct trace* trace, const struct traced_call* call, int ranks,
                              const int* counts, const struct trace_event* events) {
    char* text = NULL;
    size_t length = 0;
    FILE* line = open_memstream(&text, &length);
    FILE* file = fopen(trace->file, "ae");
    bool ok = line != NULL && file != NULL;
    if (ok) print_events(line, call, ranks, counts, events);
    if (line != NULL) ok = fclose(line) == 0 && ok;
    if (ok) {
        setvbuf(file, NULL, _IOFBF, length + 1);
        ok = fwrite(text, 1, length, file) == length;
    }
    if (file != NULL) ok = fclose(file) == 0 && ok;
    if (!ok && trace->calls == 0)
        fprintf(stderr, "topoloom: collectives: cannot write the trace '%s'\n", trace->file);
    free(text);
}

void end_trace(struct trace* trace) {
    if (trace->count > 0) trace->events[0].end = PMPI_Wtime();
}

int write_trace(struct trace* trace, const struct traced_call* call, MPI_Comm comm, int tag) {
    int status = sync_clocks(&trace->clock, comm, tag);
    if (status != MPI_SUCCESS) return status;
    for (size_t i = 0; i < trace->count; ++i) {
        trace->events[i].begin = to_common_time(&trace->clock, trace->events[i].begin);
        trace->events[i].end = to_common_time(&trace->clock, trace->events[i].end);
    }
    int rank = 0, ranks = 1, *counts = NULL;
    struct trace_event* all = NULL;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    status = gather_events(trace, comm, rank, ranks, &counts, &all);
    if (status == MPI_SUCCESS && all != NULL) append_trace_line(trace, call, ranks, counts, all);
    // Ranks wait until the line is written, so that writing does not delay rank 0 in the next call.
    if (status == MPI_SUCCESS) status = PMPI_Barrier(comm);
    ++trace->calls;
    free(counts);
    free(all);
    return status;
}
