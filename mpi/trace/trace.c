// SPDX-License-Identifier: BSD-3-Clause
// Notes, gathers and writes what ranks did in a call.
#define _GNU_SOURCE
#include "trace.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_calls = 100 };

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

bool wants_call(const struct trace* trace) { return trace->calls < most_calls; }

static void note(struct trace* trace, struct event event) {
    if (trace->count == trace->room) {
        const size_t room = trace->room == 0 ? 256 : 2 * trace->room;
        struct event* larger = realloc(trace->events, room * sizeof *larger);
        if (larger == NULL) {
            trace->lacks_memory = true;
            return;
        }
        trace->events = larger;
        trace->room = room;
    }
    trace->events[trace->count++] = event;
}

void begin_trace(struct trace* trace) {
    trace->count = 0;
    trace->lacks_memory = false;
    note(trace, (struct event){.kind = in_call, .begin = PMPI_Wtime()});
}

void note_copies(struct trace* trace, int round, double begin) {
    note(trace, (struct event){.kind = copying, .round = round, .begin = begin, .end = PMPI_Wtime()});
}

void begin_messages(struct trace* trace) { trace->posted = trace->count; }

void note_message(struct trace* trace, enum event_kind kind, int round, int peer, int64_t bytes) {
    note(trace,
         (struct event){.kind = kind, .round = round, .peer = peer, .bytes = bytes, .begin = PMPI_Wtime()});
}

int complete_traced(struct trace* trace, int count, MPI_Request requests[], bool wait, int* flag) {
    // One at a time: SimGrid's MPI_Waitsome looks every tenth of a millisecond.
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

/// Whether rank 0 got memory, or none is needed; the same on all ranks.
static int agree(bool* has_memory, MPI_Comm comm) {
    int has = *has_memory;
    const int status = PMPI_Bcast(&has, 1, MPI_INT, 0, comm);
    *has_memory = has;
    return status;
}

/// The events of all ranks, one rank after another: `counts` by rank, in bytes. NULL on ranks other than 0, and where that
/// lacks memory.
static int gather(const struct trace* trace, MPI_Comm comm, int rank, int ranks, int** counts,
                  struct event** all) {
    const size_t bytes = trace->count * sizeof *trace->events;
    const int own = trace->lacks_memory || bytes > (size_t)(INT_MAX / ranks) ? 0 : (int)bytes;
    if (rank == 0) *counts = malloc(2 * (size_t)ranks * sizeof **counts);
    bool has_memory = *counts != NULL;
    int status = agree(&has_memory, comm);
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
    if (status == MPI_SUCCESS) status = agree(&has_memory, comm);
    if (status != MPI_SUCCESS || !has_memory) return status;
    return PMPI_Gatherv(trace->events, own, MPI_BYTE, *all, *counts, displacements, MPI_BYTE, 0, comm);
}

static void print(FILE* stream, const struct traced_call* call, int ranks, const int* counts,
                  const struct event* event) {
    static const char* const kinds[] = {"call", "copy", "send", "receive"};
    fprintf(stream,
            "{\"format\": \"topoloom-trace\", \"version\": 1, \"operation\": \"%s\", \"schedule\": \"%s\", "
            "\"bytes\": %lld, \"ranks\": %d, \"events\": [",
            call->operation, call->schedule, (long long)call->bytes, ranks);
    const char* between = "";
    for (int r = 0; r < ranks; ++r) {
        for (size_t i = 0; i < (size_t)counts[r] / sizeof *event; ++i, ++event) {
            fprintf(stream, "%s[%d, \"%s\", %d, %d, %lld, %.9f, %.9f]", between, r, kinds[event->kind],
                    event->round, event->peer, (long long)event->bytes, event->begin, event->end);
            between = ", ";
        }
    }
    fputs("]}\n", stream);
}

/// In one piece, as other communicators may write to the same file.
static void append(const struct trace* trace, const struct traced_call* call, int ranks, const int* counts,
                   const struct event* events) {
    char* text = NULL;
    size_t length = 0;
    FILE* line = open_memstream(&text, &length);
    FILE* file = fopen(trace->file, "ae");
    bool right = line != NULL && file != NULL;
    if (right) print(line, call, ranks, counts, events);
    if (line != NULL) right = fclose(line) == 0 && right;
    if (right) {
        setvbuf(file, NULL, _IOFBF, length + 1);
        right = fwrite(text, 1, length, file) == length;
    }
    if (file != NULL) right = fclose(file) == 0 && right;
    if (!right && trace->calls == 0)
        fprintf(stderr, "topoloom: collectives: cannot write the trace '%s'\n", trace->file);
    free(text);
}

void end_trace(struct trace* trace) {
    if (trace->count > 0) trace->events[0].end = PMPI_Wtime();
}

int write_trace(struct trace* trace, const struct traced_call* call, MPI_Comm comm, int tag) {
    int status = compare_clocks(&trace->clock, comm, tag);
    if (status != MPI_SUCCESS) return status;
    for (size_t i = 0; i < trace->count; ++i) {
        trace->events[i].begin = to_common(&trace->clock, trace->events[i].begin);
        trace->events[i].end = to_common(&trace->clock, trace->events[i].end);
    }
    int rank = 0, ranks = 1, *counts = NULL;
    struct event* all = NULL;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    status = gather(trace, comm, rank, ranks, &counts, &all);
    if (status == MPI_SUCCESS && all != NULL) append(trace, call, ranks, counts, all);
    // What rank 0 takes for it is not to show in the next call.
    if (status == MPI_SUCCESS) status = PMPI_Barrier(comm);
    ++trace->calls;
    free(counts);
    free(all);
    return status;
}
