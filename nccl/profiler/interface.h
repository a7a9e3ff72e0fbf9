// SPDX-License-Identifier: BSD-3-Clause
// The parts of the binary interface of NCCL's profiler plugins that this plugin uses; versions 1 to 7.
//
// Versions and NCCL releases: 1: 2.23, 2: 2.24, 3: 2.26, 4: 2.27, 5: 2.28, 6: 2.29, 7: main branch. NCCL allocates the
// descriptors, which may have more members than declared here.
#ifndef TOPOLOOM_NCCL_INTERFACE_H
#define TOPOLOOM_NCCL_INTERFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SUCCESS = 0 };

/// Event types, as bits of an activation mask.
enum event {
    EVENT_GROUP = 1 << 0,
    EVENT_COLLECTIVE = 1 << 1,
    EVENT_MESSAGE = 1 << 2,
    EVENT_KERNEL = 1 << 6,           // from 3 on
    EVENT_COLLECTIVE_CALL = 1 << 9,  // from 5 on
    EVENT_COPY_ENGINE = 1 << 12,     // from version 6 on: a collective without a kernel
};

struct collective_v1 {
    const char* name;
    uint64_t communicator;
    uint64_t number;
    uint8_t function;
    const void* send_buffer;
    void* receive_buffer;
    size_t count;
    int root;
    uint8_t datatype;
};

struct message_v1 {
    const char* name;
    uint64_t communicator;
    uint8_t function;
    void* buffer;
    uint8_t datatype;
    size_t count;
    int peer;
};

struct event_v1 {
    uint8_t type;
    void* parent;
    int rank;
    union {
        struct collective_v1 collective;
        struct message_v1 message;
    };
};

struct collective_v2 {
    const char* name;
    uint64_t communicator;
    uint64_t number;
    const char* function;
    const void* send_buffer;
    void* receive_buffer;
    size_t count;
    int root;
    const char* datatype;
};

struct message_v2 {
    const char* name;
    uint64_t communicator;
    const char* function;
    void* buffer;
    const char* datatype;
    size_t count;
    int peer;
};

/// Also used for version 3, which differs only in later members.
struct event_v2 {
    uint8_t type;
    void* parent;
    int rank;
    union {
        struct collective_v2 collective;
        struct message_v2 message;
    };
};

/// Also used for collectives that copy engines perform.
struct collective_v4 {
    uint64_t number;
    const char* function;
    const void* send_buffer;
    void* receive_buffer;
    size_t count;
    int root;
    const char* datatype;
};

struct message_v4 {
    const char* function;
    void* buffer;
    const char* datatype;
    size_t count;
    int peer;
};

struct event_v4 {
    uint8_t type;
    void* parent;
    int rank;
    union {
        struct collective_v4 collective;
        struct message_v4 message;
    };
};

/// A call of the program, before NCCL plans it.
struct collective_call {
    const char* function;
    size_t count;
    const char* datatype;
    int root;
    void* stream;
    bool captured;  // whether the call is captured in a CUDA graph, which may run any number of times
};

/// Also used for versions 6 and 7, which differ only in later members.
struct event_v5 {
    uint64_t type;
    void* parent;
    int rank;
    union {
        struct collective_v4 collective;
        struct message_v4 message;
        struct collective_call call;
    };
};

typedef void (*logger)(int level, unsigned long flags, const char* file, int line, const char* format, ...);

typedef int init_v1(void** context, int* mask);
typedef int init_v4(void** context, int* mask, const char* name, uint64_t communicator, int nodes, int ranks,
                    int rank, logger log);
typedef int init_v5(void** context, uint64_t communicator, int* mask, const char* name, int nodes, int ranks,
                    int rank, logger log);
typedef int stop_event(void* handle);
typedef int record_state(void* handle, int state, void* arguments);
typedef int finalize(void* context);

/// Types of the exported symbol, which differ in the signature of `init` and the type of the event
/// descriptor.
#define PROFILER(init_type, event_type)                                             \
    {                                                                               \
        const char* name;                                                           \
        init_type* init;                                                            \
        int (*start)(void* context, void** handle, const struct event_type* event); \
        stop_event* stop;                                                           \
        record_state* record;                                                       \
        finalize* end;                                                              \
    }

struct profiler_v1 PROFILER(init_v1, event_v1);
struct profiler_v2 PROFILER(init_v1, event_v2);
struct profiler_v4 PROFILER(init_v4, event_v4);
struct profiler_v5 PROFILER(init_v5, event_v5);

#undef PROFILER

#endif
