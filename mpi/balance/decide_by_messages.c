// SPDX-License-Identifier: BSD-3-Clause
// Sends and receives the messages of topoloom_decide_by_messages().
#include <stdlib.h>
#include <string.h>

#include "balance.h"
#include "errors.h"

enum { min_capacity = 16 };

/// A message whose send may be incomplete.
struct sent_message {
    struct sent_message* next;
    MPI_Request request;
    int64_t values[];
};

struct channel {
    MPI_Comm comm;
    struct sent_message* sent;
    int64_t* received;
    size_t capacity;
    int status;
};

static int record_status(struct channel* channel, int status) {
    channel->status = status;
    return status != MPI_SUCCESS;
}

static int send_message(void* context, uint32_t to, int tag, const int64_t* values, size_t count) {
    struct channel* channel = context;
    struct sent_message* created = malloc(sizeof *created + count * sizeof *values);
    if (created == NULL) return record_status(channel, MPI_ERR_NO_MEM);
    if (count > 0) memcpy(created->values, values, count * sizeof *values);
    created->next = channel->sent;
    channel->sent = created;
    return record_status(channel, PMPI_Isend(created->values, (int)count, MPI_INT64_T, (int)to, tag,
                                             channel->comm, &created->request));
}

static int receive_message(void* context, uint32_t from, int tag, const int64_t** values, size_t* count) {
    struct channel* channel = context;
    const int source = from == TOPOLOOM_ANY_RANK ? MPI_ANY_SOURCE : (int)from;
    MPI_Status found;
    int size = 0;
    int status = PMPI_Probe(source, tag, channel->comm, &found);
    if (status == MPI_SUCCESS) status = PMPI_Get_count(&found, MPI_INT64_T, &size);
    if (status != MPI_SUCCESS) return record_status(channel, status);
    if ((size_t)size > channel->capacity || channel->received == NULL) {
        channel->capacity = size > min_capacity ? (size_t)size : min_capacity;
        free(channel->received);
        channel->received = malloc(channel->capacity * sizeof *channel->received);
        if (channel->received == NULL) return record_status(channel, MPI_ERR_NO_MEM);
    }
    status = PMPI_Recv(channel->received, size, MPI_INT64_T, found.MPI_SOURCE, tag, channel->comm,
                       MPI_STATUS_IGNORE);
    *values = channel->received;
    *count = (size_t)size;
    return record_status(channel, status);
}

int decide_by_messages(struct comm_state* state, long long count, topoloom_own_plan* own) {
    struct channel channel = {.comm = state->own};
    const topoloom_channel messages = {&channel, send_message, receive_message};
    char error[256] = "";
    const int result = topoloom_decide_by_messages((uint32_t)state->rank, (uint32_t)state->ranks, count,
                                                   &messages, own, error, sizeof error);
    while (channel.sent != NULL) {
        struct sent_message* next = channel.sent->next;
        if (channel.status == MPI_SUCCESS)
            channel.status = PMPI_Wait(&channel.sent->request, MPI_STATUS_IGNORE);
        free(channel.sent);
        channel.sent = next;
    }
    free(channel.received);
    if (result == 1) return raise_error(state->own, MPI_ERR_COUNT, "balance", "%s", error);
    return channel.status;
}
