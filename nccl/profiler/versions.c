// SPDX-License-Identifier: BSD-3-Clause
// Exports the symbols that NCCL and RCCL load: one per version of the plugin interface.
//
// Up to version 4, the plugin counts the operations that NCCL plans. From version 5 on, it counts the program's calls.
// For calls captured in CUDA graphs, it counts the planned operations each time the graph runs. Only planned messages
// have peers.
#include "communicator.h"
#include "interface.h"

#define EXPORT __attribute__((visibility("default")))
static const char NAME[] = "Topoloom";

/// Event handles, which NCCL passes as parents of other events. Up to NCCL 2.27, groups need a handle.
static char group_, counted_call_, captured_call_;

static const char* const FUNCTIONS_V1[] = {"Broadcast", "Reduce",   "AllGather", "ReduceScatter",
                                           "AllReduce", "SendRecv", "Send",      "Recv"};
static const char* const DATATYPES_V1[] = {"ncclInt8",    "ncclUint8",   "ncclInt32",   "ncclUint32",
                                           "ncclInt64",   "ncclUint64",  "ncclFloat16", "ncclFloat32",
                                           "ncclFloat64", "ncclBfloat16"};
static const char UNKNOWN[] = "?";
#define NAME_OF(names, code) ((code) < sizeof(names) / sizeof *(names) ? (names)[code] : UNKNOWN)

static int init_communicator(void** context, int* mask, int events, uint64_t id, int rank, int ranks,
                             int nodes) {
    *context = open_communicator(id, rank, ranks, nodes);
    if (*context != NULL)
        *mask = events;  // one mask for all communicators: do not disable events of earlier ones
    return SUCCESS;
}

static void count_if_send(struct communicator* comm, const struct operation* message) {
    if (message->function[0] == 'S')
        count_message(&comm->counts, message);  // counts only Send, because the peer counts Recv
}

static int init_plugin_v1(void** context, int* mask) {
    return init_communicator(context, mask, EVENT_GROUP | EVENT_COLLECTIVE | EVENT_MESSAGE, 0, -1, 0, 0);
}

// Requests kernel events, although they are not counted: otherwise, NCCL does not report graphs that need no
// proxy.
static int init_plugin_v3(void** context, int* mask) {
    return init_communicator(context, mask, EVENT_GROUP | EVENT_COLLECTIVE | EVENT_MESSAGE | EVENT_KERNEL, 0,
                             -1, 0, 0);
}

static int init_plugin_v4(void** context, int* mask, const char* name, uint64_t communicator, int nodes,
                          int ranks, int rank, logger log) {
    (void)name, (void)log;
    const int events = EVENT_GROUP | EVENT_COLLECTIVE | EVENT_MESSAGE | EVENT_KERNEL;
    return init_communicator(context, mask, events, communicator, rank, ranks, nodes);
}

static int init_plugin_v5(void** context, uint64_t communicator, int* mask, const char* name, int nodes,
                          int ranks, int rank, logger log) {
    (void)name, (void)log;
    const int events =
        EVENT_COLLECTIVE_CALL | EVENT_COLLECTIVE | EVENT_MESSAGE | EVENT_KERNEL | EVENT_COPY_ENGINE;
    return init_communicator(context, mask, events, communicator, rank, ranks, nodes);
}

static int start_event_v1(void* context, void** handle, const struct event_v1* event) {
    struct communicator* comm = context;
    *handle = event->type == EVENT_GROUP ? &group_ : NULL;
    if (comm == NULL) return SUCCESS;
    if (event->type == EVENT_COLLECTIVE) {
        const struct collective_v1* c = &event->collective;
        identify_communicator(comm, c->communicator, event->rank);
        count_collective(&comm->counts,
                         &(struct operation){NAME_OF(FUNCTIONS_V1, c->function),
                                             NAME_OF(DATATYPES_V1, c->datatype), c->count, c->root});
    } else if (event->type == EVENT_MESSAGE) {
        const struct message_v1* m = &event->message;
        identify_communicator(comm, m->communicator, event->rank);
        count_if_send(comm, &(struct operation){NAME_OF(FUNCTIONS_V1, m->function),
                                                NAME_OF(DATATYPES_V1, m->datatype), m->count, m->peer});
    }
    return SUCCESS;
}

static int start_event_v2(void* context, void** handle, const struct event_v2* event) {
    struct communicator* comm = context;
    *handle = event->type == EVENT_GROUP ? &group_ : NULL;
    if (comm == NULL) return SUCCESS;
    if (event->type == EVENT_COLLECTIVE) {
        const struct collective_v2* c = &event->collective;
        identify_communicator(comm, c->communicator, event->rank);
        count_collective(&comm->counts, &(struct operation){c->function, c->datatype, c->count, c->root});
    } else if (event->type == EVENT_MESSAGE) {
        const struct message_v2* m = &event->message;
        identify_communicator(comm, m->communicator, event->rank);
        count_if_send(comm, &(struct operation){m->function, m->datatype, m->count, m->peer});
    }
    return SUCCESS;
}

static void count_planned_collective(struct communicator* comm, const struct collective_v4* c) {
    count_collective(&comm->counts, &(struct operation){c->function, c->datatype, c->count, c->root});
}

static void count_planned_message(struct communicator* comm, const struct message_v4* m) {
    count_if_send(comm, &(struct operation){m->function, m->datatype, m->count, m->peer});
}

static int start_event_v4(void* context, void** handle, const struct event_v4* event) {
    *handle = event->type == EVENT_GROUP ? &group_ : NULL;
    if (context == NULL) return SUCCESS;
    if (event->type == EVENT_COLLECTIVE) count_planned_collective(context, &event->collective);
    if (event->type == EVENT_MESSAGE) count_planned_message(context, &event->message);
    return SUCCESS;
}

static int start_event_v5(void* context, void** handle, const struct event_v5* event) {
    struct communicator* comm = context;
    *handle = NULL;
    if (comm == NULL) return SUCCESS;
    if (event->type == EVENT_COLLECTIVE_CALL) {
        const struct collective_call* c = &event->call;
        *handle = c->captured ? &captured_call_ : &counted_call_;
        if (!c->captured)
            count_collective(&comm->counts, &(struct operation){c->function, c->datatype, c->count, c->root});
    } else if (event->type == EVENT_COLLECTIVE || event->type == EVENT_COPY_ENGINE) {
        if (event->parent != &counted_call_) count_planned_collective(comm, &event->collective);
    } else if (event->type == EVENT_MESSAGE) {
        count_planned_message(comm, &event->message);
    }
    return SUCCESS;
}

static int ignore_stop(void* handle) {
    (void)handle;
    return SUCCESS;
}

static int ignore_state(void* handle, int state, void* arguments) {
    (void)handle, (void)state, (void)arguments;
    return SUCCESS;
}

static int finalize_plugin(void* context) {
    if (context != NULL) close_communicator(context);
    return SUCCESS;
}

#define EXPORT_PROFILER(version, type, init, start)                                      \
    EXPORT const struct type ncclProfiler_##version = {NAME,        init,         start, \
                                                       ignore_stop, ignore_state, finalize_plugin}

EXPORT_PROFILER(v1, profiler_v1, init_plugin_v1, start_event_v1);
EXPORT_PROFILER(v2, profiler_v2, init_plugin_v1, start_event_v2);
EXPORT_PROFILER(v3, profiler_v2, init_plugin_v3, start_event_v2);
EXPORT_PROFILER(v4, profiler_v4, init_plugin_v4, start_event_v4);
EXPORT_PROFILER(v5, profiler_v5, init_plugin_v5, start_event_v5);
EXPORT_PROFILER(v6, profiler_v5, init_plugin_v5, start_event_v5);
EXPORT_PROFILER(v7, profiler_v5, init_plugin_v5, start_event_v5);
