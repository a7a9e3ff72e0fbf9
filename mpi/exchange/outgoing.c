// SPDX-License-Identifier: BSD-3-Clause
// Outgoing parts of messages, as bytes.
#include "exchange.h"

static int64_t count_parts(int64_t bytes) { return bytes / part_bytes + 1; }

/// Packs messages of a non-contiguous datatype, one after another.
static int pack_all(struct exchange* exchange, const struct given* given, const struct type_desc* elements,
                    int64_t bytes, const char** packed) {
    char* copy = exchange_alloc(exchange, (size_t)bytes);
    if (copy == NULL) return MPI_ERR_NO_MEM;
    *packed = copy;
    int64_t before = 0;
    for (int i = 0; i < given->count; ++i) {
        const int64_t at = given->displs != NULL ? given->displs[i] : before;
        const int status = pack_elements(elements, (const char*)given->buffer + at * elements->extent,
                                         given->counts[i], copy + before * elements->size);
        if (status != MPI_SUCCESS) return status;
        before += given->counts[i];
    }
    return MPI_SUCCESS;
}

static struct outgoing* list_parts(struct outgoing* next, int destination, const char* data, int64_t bytes) {
    for (int64_t at = 0, parts = count_parts(bytes); parts > 0; --parts, at += part_bytes) {
        const int64_t left = bytes - at;
        *next++ = (struct outgoing){destination, (int)(left < part_bytes ? left : part_bytes), data + at};
    }
    return next;
}

int list_outgoing(struct exchange* exchange, const struct given* given) {
    struct type_desc elements;
    int status = describe_type(given->type, &elements);
    if (status != MPI_SUCCESS) return status;
    int64_t bytes = 0, parts = 0;
    for (int i = 0; i < given->count; ++i) {
        bytes += given->counts[i] * (int64_t)elements.size;
        parts += count_parts(given->counts[i] * (int64_t)elements.size);
    }
    exchange->outgoing = exchange_alloc(exchange, (size_t)parts * sizeof *exchange->outgoing);
    exchange->sends = exchange_alloc(exchange, (size_t)parts * sizeof(MPI_Request));
    if (exchange->outgoing == NULL || exchange->sends == NULL) return MPI_ERR_NO_MEM;
    exchange->outgoing_count = (size_t)parts;
    const char* data = given->buffer;
    if (!elements.is_contiguous) status = pack_all(exchange, given, &elements, bytes, &data);
    if (status != MPI_SUCCESS) return status;
    struct outgoing* next = exchange->outgoing;
    int64_t before = 0;
    for (int i = 0; i < given->count; ++i) {
        const int64_t at = elements.is_contiguous && given->displs != NULL ? given->displs[i] : before;
        const char* from = given->counts[i] > 0 ? data + at * elements.size : NULL;
        next = list_parts(next, given->destinations[i], from, given->counts[i] * (int64_t)elements.size);
        before += given->counts[i];
    }
    return MPI_SUCCESS;
}

int start_sends(struct exchange* exchange, int longer_than, bool synchronous) {
    for (size_t i = 0; i < exchange->outgoing_count; ++i) {
        const struct outgoing* part = &exchange->outgoing[i];
        if (part->destination == exchange->state->rank || part->bytes <= longer_than) continue;
        MPI_Request* request = &exchange->sends[exchange->send_count];
        const int status = synchronous
                               ? PMPI_Issend(part->data, part->bytes, MPI_BYTE, part->destination,
                                             exchange->straight_tag, exchange->state->duplicate, request)
                               : PMPI_Isend(part->data, part->bytes, MPI_BYTE, part->destination,
                                            exchange->straight_tag, exchange->state->duplicate, request);
        if (status != MPI_SUCCESS) return status;
        ++exchange->send_count;
    }
    return MPI_SUCCESS;
}
