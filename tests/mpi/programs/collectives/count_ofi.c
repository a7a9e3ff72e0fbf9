// SPDX-License-Identifier: BSD-3-Clause
// Preloaded, and named in I_MPI_OFI_LIBRARY: counts the libfabric messages of Intel MPI. Links
// libfabric for all other functions, and count_ofi.map for the symbol versions that Intel MPI
// requires.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_tagged.h>

static long sends, receives;

void messages_counted(long* sent, long* received) {
    *sent = sends;
    *received = receives;
}

static struct fi_ops_tagged messages, *next_messages;
static struct fi_ops_domain domains, *next_domains;
static struct fi_ops_fabric fabrics, *next_fabrics;

#define PARAMETERS(...) (struct fid_ep * endpoint, __VA_ARGS__)
#define COUNTED(name, count, parameters, ...)                              \
    static ssize_t counted_##name parameters {                             \
        const ssize_t status = next_messages->name(endpoint, __VA_ARGS__); \
        if (status == 0) ++count;                                          \
        return status;                                                     \
    }
COUNTED(recv, receives,
        PARAMETERS(void* buffer, size_t length, void* memory, fi_addr_t from, uint64_t tag, uint64_t ignored,
                   void* context),
        buffer, length, memory, from, tag, ignored, context)
COUNTED(recvmsg, receives, PARAMETERS(const struct fi_msg_tagged* message, uint64_t flags), message, flags)
COUNTED(send, sends,
        PARAMETERS(const void* buffer, size_t length, void* memory, fi_addr_t to, uint64_t tag,
                   void* context),
        buffer, length, memory, to, tag, context)
COUNTED(sendmsg, sends, PARAMETERS(const struct fi_msg_tagged* message, uint64_t flags), message, flags)
COUNTED(inject, sends, PARAMETERS(const void* buffer, size_t length, fi_addr_t to, uint64_t tag), buffer,
        length, to, tag)
COUNTED(senddata, sends,
        PARAMETERS(const void* buffer, size_t length, void* memory, uint64_t data, fi_addr_t to, uint64_t tag,
                   void* context),
        buffer, length, memory, data, to, tag, context)
COUNTED(injectdata, sends,
        PARAMETERS(const void* buffer, size_t length, uint64_t data, fi_addr_t to, uint64_t tag), buffer,
        length, data, to, tag)

static int make_endpoint(struct fid_domain* domain, struct fi_info* info, struct fid_ep** made,
                         void* context) {
    const int status = next_domains->endpoint(domain, info, made, context);
    if (status != 0) return status;
    next_messages = (*made)->tagged;
    messages = *next_messages;
    messages.recv = counted_recv;
    messages.recvmsg = counted_recvmsg;
    messages.send = counted_send;
    messages.sendmsg = counted_sendmsg;
    messages.inject = counted_inject;
    messages.senddata = counted_senddata;
    messages.injectdata = counted_injectdata;
    (*made)->tagged = &messages;
    return 0;
}

static int make_domain(struct fid_fabric* fabric, struct fi_info* info, struct fid_domain** made,
                       void* context) {
    const int status = next_fabrics->domain(fabric, info, made, context);
    if (status != 0) return status;
    next_domains = (*made)->ops;
    domains = *next_domains;
    domains.endpoint = make_endpoint;
    (*made)->ops = &domains;
    return 0;
}

int fi_fabric(struct fi_fabric_attr* attributes, struct fid_fabric** made, void* context) {
    static int depth;  // a provider may use another one, whose messages are not counted
    int (*next)(struct fi_fabric_attr*, struct fid_fabric**, void*) =
        (int (*)(struct fi_fabric_attr*, struct fid_fabric**, void*))dlsym(RTLD_NEXT, "fi_fabric");
    ++depth;
    const int status = next(attributes, made, context);
    --depth;
    if (status != 0 || depth > 0) return status;
    next_fabrics = (*made)->ops;
    fabrics = *next_fabrics;
    fabrics.domain = make_domain;
    (*made)->ops = &fabrics;
    return 0;
}
