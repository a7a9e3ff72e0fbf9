// SPDX-License-Identifier: BSD-3-Clause
/// Descriptors that NCCL passes to profiler plugins, with the offsets of its releases (x86-64 and AArch64).
#ifndef TOPOLOOM_NCCL_STUB_H
#define TOPOLOOM_NCCL_STUB_H

#include <stddef.h>
#include <stdint.h>

enum { GROUP = 1, COLLECTIVE = 2, MESSAGE = 4, KERNEL = 64, GROUP_CALL = 256, COLLECTIVE_CALL = 512 };
enum { MESSAGE_CALL = 1024, COPY_ENGINE = 4096, PARENT = 8, RANK = 16, BYTES = 128 };

/// Offsets in a descriptor; of codes instead of names in version 1; 0 if the version lacks the field.
struct layout {
    int type_bytes;
    struct {
        int id, function, count, place, datatype;
    } collective, message;
};

static const struct layout LAYOUTS[] = {
    {0},
    {1, {32, 48, 72, 80, 84}, {32, 40, 64, 72, 56}},
    {1, {32, 48, 72, 80, 88}, {32, 40, 64, 72, 56}},
    {1, {32, 48, 72, 80, 88}, {32, 40, 64, 72, 56}},
    {1, {0, 32, 56, 64, 72}, {0, 24, 48, 56, 40}},
    {8, {0, 32, 56, 64, 72}, {0, 24, 48, 56, 40}},
    {8, {0, 32, 56, 64, 72}, {0, 24, 48, 56, 40}},
    {8, {0, 32, 56, 64, 72}, {0, 24, 48, 56, 40}},
};
enum { NEWEST = 7 };

/// Offsets in the descriptors of program calls, from version 5 on.
enum { CALL_FUNCTION = 24, CALL_COUNT = 32, CALL_DATATYPE = 40, CALL_ROOT = 48, CALL_CAPTURED = 64 };

static const char* const FUNCTIONS[] = {"Broadcast", "Reduce",   "AllGather", "ReduceScatter",
                                        "AllReduce", "SendRecv", "Send",      "Recv",
                                        "AlltoAll",  "Scatter",  "Gather"};
/// "Unknown" is NCCL's name of ncclUint8.
static const char* const DATATYPES[] = {"ncclInt8",    "Unknown",      "ncclInt32",      "ncclUint32",
                                        "ncclInt64",   "ncclUint64",   "ncclFloat16",    "ncclFloat32",
                                        "ncclFloat64", "ncclBfloat16", "ncclFloat8e4m3", "ncclFloat8e5m2"};

struct plugin {
    const char* name;
    int (*init)();
    int (*start)(void* context, void** handle, const void* descriptor);
    int (*stop)(void* handle);
    int (*record)(void* handle, int state, void* arguments);
    int (*finalize)(void* context);
};

#endif
