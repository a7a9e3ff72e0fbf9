// SPDX-License-Identifier: BSD-3-Clause
// Parts of messages to send, as bytes.
#include "exchange.h"

static int64_t count_parts(int64_t bytes) { return bytes / part_bytes + 1; }

/// Packs all messages of a non-contiguous datatype, one after another.
static int pack_messages(struct exchange* exchange, const struct send_arguments* send_arguments,
                         const struct type_desc* elements, int64_t bytes, const char** packed) {
    char* copy = allocate_exchange_memory(exchange, (size_t)bytes);
    if (copy == NULL) return MPI_ERR_NO_MEM;
    *packed = copy;
    int64_t before = 0;
    for (int i = 0; i < send_arguments->count; ++i) {
        const int64_t at = send_arguments->displs != NULL ? send_arguments->displs[i] : before;
        const int status =
            pack_elements(elements, (const char*)send_arguments->buffer + at * elements->extent,
                          send_arguments->counts[i], copy + before * elements->size);
        if (status != MPI_SUCCESS) return status;
        before += send_arguments->counts[i];
    }
    return MPI_SUCCESS;
}

static struct outgoing_part* list_parts(struct outgoing_part* next, int destination, const char* data,
                                        int64_t bytes) {
    for (int64_t at = 0, parts = count_parts(bytes); parts > 0; --parts, at += part_bytes) {
        const int64_t left = bytes - at;
        *next++ =
            (struct outgoing_part){destination, (int)(left < part_bytes ? left : part_bytes), data + at};
    }
    return next;
}

int list_outgoing_parts(struct exchange* exchange, const struct send_arguments* send_arguments) {
    struct type_desc elements;
    int status = describe_type(send_arguments->type, &elements);
    if (status != MPI_SUCCESS) return status;
    int64_t bytes = 0, parts = 0;
    for (int i = 0; i < send_arguments->count; ++i) {
        bytes += send_arguments->counts[i] * (int64_t)elements.size;
        parts += count_parts(send_arguments->counts[i] * (int64_t)elements.size);
    }
    exchange->outgoing = allocate_exchange_memory(exchange, (size_t)parts * sizeof *exchange->outgoing);
    exchange->sends = allocate_exchange_memory(exchange, (size_t)parts * sizeof(MPI_Request));
    if (exchange->outgoing == NULL || exchange->sends == NULL) return MPI_ERR_NO_MEM;
    exchange->outgoing_count = (size_t)parts;
    const char* data = send_arguments->buffer;
    if (!elements.is_contiguous) status = pack_messages(exchange, send_arguments, &elements, bytes, &data);
    if (status != MPI_SUCCESS) return status;
    struct outgoing_part* next = exchange->outgoing;
    int64_t before = 0;
    for (int i = 0; i < send_arguments->count; ++i) {
        const int64_t at =
            elements.is_contiguous && send_arguments->displs != NULL ? send_arguments->displs[i] : before;
        const char* from = send_arguments->counts[i] > 0 ? data + at * elements.size : NULL;
        next = list_parts(next, send_arguments->destinations[i], from,
                          send_arguments->counts[i] * (int64_t)elements.size);
        before += send_arguments->counts[i];
    }
    return MPI_SUCCESS;
}

int start_sends(struct exchange* exchange, int longer_than, bool synchronous) {
    for (size_t i = 0; i < exchange->outgoing_count; ++i) {
        const struct outgoing_part* part = &exchange->outgoing[i];
        if (part->destination == exchange->state->rank || part->bytes <= longer_than) continue;
        MPI_Request* request = &exchange->sends[exchange->send_count];
        const int status = synchronous
                               ? PMPI_Issend(part->data, part->bytes, MPI_BYTE, part->destination,
                                             exchange->direct_tag, exchange->state->duplicate, request)
                               : PMPI_Isend(part->data, part->bytes, MPI_BYTE, part->destination,
                                            exchange->direct_tag, exchange->state->duplicate, request);
        if (status != MPI_SUCCESS) return status;
        ++exchange->send_count;
    }
    return MPI_SUCCESS;
}
