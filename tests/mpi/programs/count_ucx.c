// SPDX-License-Identifier: BSD-3-Clause
// Preloaded: counts the messages that MPICH sends and receives through UCX.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

static long sends, receives;

void messages_counted(long* sent, long* received) {
    *sent = sends;
    *received = receives;
}

void* ucp_tag_send_nbx(void* endpoint, const void* buffer, size_t count, unsigned long tag,
                       const void* param) {
    void* (*next)(void*, const void*, size_t, unsigned long, const void*) = (void* (*)(
        void*, const void*, size_t, unsigned long, const void*))dlsym(RTLD_NEXT, "ucp_tag_send_nbx");
    ++sends;
    return next(endpoint, buffer, count, tag, param);
}

void* ucp_tag_recv_nbx(void* worker, void* buffer, size_t count, unsigned long tag, unsigned long mask,
                       const void* param) {
    void* (*next)(void*, void*, size_t, unsigned long, unsigned long, const void*) = (void* (*)(
        void*, void*, size_t, unsigned long, unsigned long, const void*))dlsym(RTLD_NEXT, "ucp_tag_recv_nbx");
    ++receives;
    return next(worker, buffer, count, tag, mask, param);
}
