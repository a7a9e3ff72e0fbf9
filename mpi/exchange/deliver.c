// SPDX-License-Identifier: BSD-3-Clause
// Delivers received parts as messages sorted by source, in one block of memory that is returned to the program.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange.h"

static int compare_arrivals(const void* left, const void* right) {
    const struct arrived_part *a = left, *b = right;
    if (a->source != b->source) return a->source < b->source ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

struct totals {
    int messages;
    int64_t bytes;
};

static int count_messages(const struct exchange* exchange, struct totals* totals) {
    *totals = (struct totals){0, 0};
    for (size_t i = 0; i < exchange->arrival_count; ++i) {
        const bool ends = exchange->arrivals[i].bytes < part_bytes;
        if (ends && totals->messages == INT_MAX) return MPI_ERR_COUNT;
        totals->messages += ends;
        totals->bytes += exchange->arrivals[i].bytes;
    }
    return MPI_SUCCESS;
}

/// Allocates one block for sources, counts and data. The buffer address is shifted by the datatype's lower bound.
static int allocate_delivery(const struct totals* totals, const struct type_desc* elements,
                             struct delivery* delivery) {
    enum { line = 64 };
    const size_t lists = 2 * (size_t)totals->messages * sizeof(int);
    const size_t begin = (lists + line - 1) / line * line;
    const int64_t count = elements->size > 0 ? totals->bytes / elements->size : 0;
    const int64_t reach = count > 0 ? (count - 1) * elements->extent + elements->true_extent : 0;
    char* created = malloc(begin + (size_t)reach + line);
    if (created == NULL) return MPI_ERR_NO_MEM;
    *delivery = (struct delivery){totals->messages, (int*)created, (int*)created + totals->messages,
                                  created + begin - elements->true_lb};
    return MPI_SUCCESS;
}

/// Lists sources and counts. Continues after an error, because all parts must be received before the next exchange.
static int list_messages(const struct exchange* exchange, const struct type_desc* elements,
                         struct delivery* delivery, char* reason, size_t reason_size) {
    int status = MPI_SUCCESS, message = 0;
    int64_t bytes = 0;
    for (size_t i = 0; i < exchange->arrival_count; ++i) {
        const struct arrived_part* part = &exchange->arrivals[i];
        bytes += part->bytes;
        if (part->bytes == part_bytes) continue;
        const int64_t count = elements->size > 0 ? bytes / elements->size : 0;
        if (count * elements->size != bytes || count > INT_MAX) {
            status = MPI_ERR_TRUNCATE;
            snprintf(reason, reason_size,
                     "a message of %lld B from rank %d is not a whole number of elements of %lld B, or more "
                     "than %d",
                     (long long)bytes, part->source, (long long)elements->size, INT_MAX);
        }
        delivery->sources[message] = part->source;
        delivery->counts[message++] = (int)count;
        bytes = 0;
    }
    return status;
}

static int receive_parts(struct exchange* exchange, char* bytes) {
    int status = MPI_SUCCESS;
    char* at = bytes;
    for (size_t i = 0; i < exchange->arrival_count && status == MPI_SUCCESS;
         at += exchange->arrivals[i++].bytes) {
        struct arrived_part* part = &exchange->arrivals[i];
        if (part->data == NULL)
            status = PMPI_Irecv(at, part->bytes, MPI_BYTE, part->source, exchange->direct_tag,
                                exchange->state->duplicate, &part->request);
    }
    // Other ranks have posted their receives, or will do so without waiting for this rank.
    if (status == MPI_SUCCESS) status = start_sends(exchange, exchange->announced_above, false);
    at = bytes;
    for (size_t i = 0; i < exchange->arrival_count && status == MPI_SUCCESS;
         at += exchange->arrivals[i++].bytes) {
        struct arrived_part* part = &exchange->arrivals[i];
        status = wait_for_request(exchange, &part->request);
        if (part->data != NULL && part->bytes > 0) memcpy(at, part->data, (size_t)part->bytes);
    }
    if (status == MPI_SUCCESS)
        status = wait_for_all_requests(exchange, exchange->send_count, exchange->sends);
    exchange->is_complete = status == MPI_SUCCESS;
    return status;
}

int deliver_messages(struct exchange* exchange, const struct type_desc* elements, struct delivery* delivery,
                     char* reason, size_t reason_size) {
    struct totals totals;
    int status = count_messages(exchange, &totals);
    if (status == MPI_SUCCESS) status = allocate_delivery(&totals, elements, delivery);
    if (status != MPI_SUCCESS) return status;
    if (exchange->arrival_count > 1)
        qsort(exchange->arrivals, exchange->arrival_count, sizeof *exchange->arrivals, compare_arrivals);
    const int listed = list_messages(exchange, elements, delivery, reason, reason_size);
    const bool in_place = elements->is_contiguous && listed == MPI_SUCCESS;
    char* bytes = in_place ? delivery->buffer : allocate_exchange_memory(exchange, (size_t)totals.bytes);
    status = bytes == NULL ? MPI_ERR_NO_MEM : receive_parts(exchange, bytes);
    if (status == MPI_SUCCESS) status = listed;
    if (status == MPI_SUCCESS && !in_place)
        status = unpack_elements(elements, bytes, totals.bytes / (elements->size > 0 ? elements->size : 1),
                                 delivery->buffer);
    if (status != MPI_SUCCESS && exchange->is_complete) free(delivery->sources);
    return status;
}
