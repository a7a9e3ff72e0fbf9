// SPDX-License-Identifier: BSD-3-Clause
// The plugin as NCCL and RCCL see it: one symbol per version of their interface.
//
// Until version 4, what NCCL plans is counted. From 5 on, calls of the program are, which NCCL reports however it
// carries them out; what it plans is only counted for calls in CUDA graphs, as often as the graphs run. Messages
// have their peers in the plan alone.
#include "communicator.h"
#include "interface.h"

#define EXPORT __attribute__((visibility("default")))
static const char NAME[] = "Topoloom";

/// What events return: NCCL hands it on as the parent of other events. Until 2.27 it needs one of groups.
static char group_, counted_, captured_;

static const char* const FUNCTIONS_V1[] = {"Broadcast", "Reduce",   "AllGather", "ReduceScatter",
                                           "AllReduce", "SendRecv", "Send",      "Recv"};
static const char* const DATATYPES_V1[] = {"ncclInt8",    "ncclUint8",   "ncclInt32",   "ncclUint32",
                                           "ncclInt64",   "ncclUint64",  "ncclFloat16", "ncclFloat32",
                                           "ncclFloat64", "ncclBfloat16"};
static const char UNKNOWN[] = "?";
#define WORD(words, code) ((code) < sizeof(words) / sizeof *(words) ? (words)[code] : UNKNOWN)

static int begin(void** context, int* mask, int events, uint64_t id, int rank, int ranks, int nodes) {
    *context = communicator_begin(id, rank, ranks, nodes);
    if (*context != NULL) *mask = events;  // of all communicators: those before must go on
    return SUCCESS;
}

static void count_message(struct communicator* one, const struct operation* message) {
    if (message->function[0] == 'S')
        table_count_message(&one->table, message);  // Send; the other side has Recv
}

static int init_first(void** context, int* mask) {
    return begin(context, mask, EVENT_GROUP | EVENT_COLLECTIVE | EVENT_MESSAGE, 0, -1, 0, 0);
}

// Kernels are asked for from here on, and not counted: NCCL then reports graphs that need no proxy, too.
static int init_third(void** context, int* mask) {
    return begin(context, mask, EVENT_GROUP | EVENT_COLLECTIVE | EVENT_MESSAGE | EVENT_KERNEL, 0, -1, 0, 0);
}

static int init_fourth(void** context, int* mask, const char* name, uint64_t communicator, int nodes,
                       int ranks, int rank, logger log) {
    (void)name, (void)log;
    const int events = EVENT_GROUP | EVENT_COLLECTIVE | EVENT_MESSAGE | EVENT_KERNEL;
    return begin(context, mask, events, communicator, rank, ranks, nodes);
}

static int init_fifth(void** context, uint64_t communicator, int* mask, const char* name, int nodes,
                      int ranks, int rank, logger log) {
    (void)name, (void)log;
    const int events =
        EVENT_COLLECTIVE_CALL | EVENT_COLLECTIVE | EVENT_MESSAGE | EVENT_KERNEL | EVENT_COPY_ENGINE;
    return begin(context, mask, events, communicator, rank, ranks, nodes);
}

static int start_first(void* context, void** handle, const struct event_v1* event) {
    struct communicator* one = context;
    *handle = event->type == EVENT_GROUP ? &group_ : NULL;
    if (one == NULL) return SUCCESS;
    if (event->type == EVENT_COLLECTIVE) {
        const struct collective_v1* c = &event->collective;
        communicator_is(one, c->communicator, event->rank);
        table_count(&one->table, &(struct operation){WORD(FUNCTIONS_V1, c->function),
                                                     WORD(DATATYPES_V1, c->datatype), c->count, c->root});
    } else if (event->type == EVENT_MESSAGE) {
        const struct message_v1* m = &event->message;
        communicator_is(one, m->communicator, event->rank);
        count_message(one, &(struct operation){WORD(FUNCTIONS_V1, m->function),
                                               WORD(DATATYPES_V1, m->datatype), m->count, m->peer});
    }
    return SUCCESS;
}

static int start_second(void* context, void** handle, const struct event_v2* event) {
    struct communicator* one = context;
    *handle = event->type == EVENT_GROUP ? &group_ : NULL;
    if (one == NULL) return SUCCESS;
    if (event->type == EVENT_COLLECTIVE) {
        const struct collective_v2* c = &event->collective;
        communicator_is(one, c->communicator, event->rank);
        table_count(&one->table, &(struct operation){c->function, c->datatype, c->count, c->root});
    } else if (event->type == EVENT_MESSAGE) {
        const struct message_v2* m = &event->message;
        communicator_is(one, m->communicator, event->rank);
        count_message(one, &(struct operation){m->function, m->datatype, m->count, m->peer});
    }
    return SUCCESS;
}

static void count_planned(struct communicator* one, const struct collective_v4* c) {
    table_count(&one->table, &(struct operation){c->function, c->datatype, c->count, c->root});
}

static void count_peer(struct communicator* one, const struct message_v4* m) {
    count_message(one, &(struct operation){m->function, m->datatype, m->count, m->peer});
}

static int start_fourth(void* context, void** handle, const struct event_v4* event) {
    *handle = event->type == EVENT_GROUP ? &group_ : NULL;
    if (context == NULL) return SUCCESS;
    if (event->type == EVENT_COLLECTIVE) count_planned(context, &event->collective);
    if (event->type == EVENT_MESSAGE) count_peer(context, &event->message);
    return SUCCESS;
}

static int start_fifth(void* context, void** handle, const struct event_v5* event) {
    struct communicator* one = context;
    *handle = NULL;
    if (one == NULL) return SUCCESS;
    if (event->type == EVENT_COLLECTIVE_CALL) {
        const struct collective_call* c = &event->call;
        *handle = c->captured ? &captured_ : &counted_;
        if (!c->captured)
            table_count(&one->table, &(struct operation){c->function, c->datatype, c->count, c->root});
    } else if (event->type == EVENT_COLLECTIVE || event->type == EVENT_COPY_ENGINE) {
        if (event->parent != &counted_) count_planned(one, &event->collective);
    } else if (event->type == EVENT_MESSAGE) {
        count_peer(one, &event->message);
    }
    return SUCCESS;
}

static int stop(void* handle) {
    (void)handle;
    return SUCCESS;
}

static int record(void* handle, int state, void* arguments) {
    (void)handle, (void)state, (void)arguments;
    return SUCCESS;
}

static int end(void* context) {
    if (context != NULL) communicator_end(context);
    return SUCCESS;
}

EXPORT const struct profiler_v1 ncclProfiler_v1 = {NAME, init_first, start_first, stop, record, end};
EXPORT const struct profiler_v2 ncclProfiler_v2 = {NAME, init_first, start_second, stop, record, end};
EXPORT const struct profiler_v2 ncclProfiler_v3 = {NAME, init_third, start_second, stop, record, end};
EXPORT const struct profiler_v4 ncclProfiler_v4 = {NAME, init_fourth, start_fourth, stop, record, end};
EXPORT const struct profiler_v5 ncclProfiler_v5 = {NAME, init_fifth, start_fifth, stop, record, end};
EXPORT const struct profiler_v5 ncclProfiler_v6 = {NAME, init_fifth, start_fifth, stop, record, end};
EXPORT const struct profiler_v5 ncclProfiler_v7 = {NAME, init_fifth, start_fifth, stop, record, end};
