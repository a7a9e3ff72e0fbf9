// SPDX-License-Identifier: BSD-3-Clause
// Received parts of messages, in the order of arrival.
#include <string.h>

#include "exchange.h"

struct arrived_part* add_arrival(struct exchange* exchange, int source, int bytes, const char* data) {
    if (exchange->arrival_count == exchange->arrival_capacity) {
        const size_t capacity = exchange->arrival_capacity == 0 ? 16 : 2 * exchange->arrival_capacity;
        struct arrived_part* larger = allocate_exchange_memory(exchange, capacity * sizeof *larger);
        if (larger == NULL) return NULL;
        if (exchange->arrival_count > 0)
            memcpy(larger, exchange->arrivals, exchange->arrival_count * sizeof *larger);
        exchange->arrivals = larger;
        exchange->arrival_capacity = capacity;
    }
    const size_t order = exchange->arrival_count++;
    struct arrived_part* added = &exchange->arrivals[order];
    *added = (struct arrived_part){source, bytes, order, data, MPI_REQUEST_NULL};
    return added;
}

int add_own_parts(struct exchange* exchange) {
    const int rank = exchange->state->rank;
    for (size_t i = 0; i < exchange->outgoing_count; ++i) {
        const struct outgoing_part* part = &exchange->outgoing[i];
        if (part->destination != rank) continue;
        // not NULL, which would mean that the part has not been received
        const char* data = part->bytes > 0 ? part->data : "";
        if (add_arrival(exchange, rank, part->bytes, data) == NULL) return MPI_ERR_NO_MEM;
    }
    return MPI_SUCCESS;
}

// No other receive can match the message between probe and receive: tags are private, and MPI forbids concurrent
// collectives on a communicator. So MPI_Mprobe, which some MPIs lack, is not needed.
int receive_probed_part(struct exchange* exchange, const MPI_Status* status) {
    int bytes = 0;
    const int counted = PMPI_Get_count(status, MPI_BYTE, &bytes);
    if (counted != MPI_SUCCESS) return counted;
    char* data = allocate_exchange_memory(exchange, (size_t)bytes);
    struct arrived_part* arrival =
        data == NULL ? NULL : add_arrival(exchange, status->MPI_SOURCE, bytes, data);
    if (arrival == NULL) return MPI_ERR_NO_MEM;
    return PMPI_Irecv(data, bytes, MPI_BYTE, arrival->source, exchange->direct_tag,
                      exchange->state->duplicate, &arrival->request);
}
