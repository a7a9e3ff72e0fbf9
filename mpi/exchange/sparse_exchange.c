// SPDX-License-Identifier: BSD-3-Clause
// The public functions: checks arguments, selects an algorithm and returns the received messages.
#include <stdlib.h>
#include <string.h>

#include "exchange.h"
#include "topoloom_exchange.h"

static const char name[] = "sparse_exchange";

static int check_send_arguments(const struct given* given, MPI_Comm comm, int ranks) {
    if (given->count < 0)
        return raise_error(comm, MPI_ERR_COUNT, name, "send_count is %d, but must not be negative",
                           given->count);
    if (given->type == MPI_DATATYPE_NULL)
        return raise_error(comm, MPI_ERR_TYPE, name, "sendtype is MPI_DATATYPE_NULL");
    if (given->count > 0 && (given->destinations == NULL || given->counts == NULL))
        return raise_error(comm, MPI_ERR_ARG, name, "%s is NULL, but there are messages",
                           given->destinations == NULL ? "destinations" : "sendcounts");
    bool has_any = false;
    for (int i = 0; i < given->count; ++i) {
        if (given->destinations[i] < 0 || given->destinations[i] >= ranks)
            return raise_error(comm, MPI_ERR_RANK, name, "destinations[%d] is %d, but ranks are 0 to %d", i,
                               given->destinations[i], ranks - 1);
        if (given->counts[i] < 0)
            return raise_error(comm, MPI_ERR_COUNT, name, "sendcounts[%d] is %d, but must not be negative", i,
                               given->counts[i]);
        has_any = has_any || given->counts[i] > 0;
    }
    if (given->buffer != NULL || !has_any) return MPI_SUCCESS;
    struct type_desc elements;
    const int status = describe_type(given->type, &elements);
    // A datatype with absolute addresses needs no buffer.
    if (status != MPI_SUCCESS || elements.size == 0 || elements.true_lb != 0) return status;
    return raise_error(comm, MPI_ERR_BUFFER, name, "sendbuf is NULL");
}

static int describe_receive(MPI_Datatype type, MPI_Comm comm, struct type_desc* elements) {
    if (type == MPI_DATATYPE_NULL)
        return raise_error(comm, MPI_ERR_TYPE, name, "recvtype is MPI_DATATYPE_NULL");
    const int status = describe_type(type, elements);
    if (status != MPI_SUCCESS || elements->extent >= 0) return status;
    return raise_error(comm, MPI_ERR_TYPE, name, "the extent of recvtype is %lld B, but must not be negative",
                       (long long)elements->extent);
}

/// No rank leaves an exchange before all have entered it, as each algorithm ends with a step that depends on all ranks. So
/// when a rank begins exchange n + 2, all have left exchange n: two alternating pairs of tags separate exchanges.
static void take_tags(struct comm_state* state, struct exchange* exchange) {
    exchange->straight_tag = 2 * state->tags_per_kind + 2 * state->exchange_parity;
    exchange->bundle_tag = exchange->straight_tag + 1;
    state->exchange_parity = !state->exchange_parity;
}

/// The mesh is the default for all ranks, whatever they send: it is best for few and many, short and long messages.
static int find_arrivals(struct exchange* exchange) {
    switch (exchange->state->exchange) {
        case exchange_reduction:
            return exchange_by_reduction(exchange);
        case exchange_nbx:
            return exchange_by_nbx(exchange);
        default:
            return exchange_by_mesh(exchange);
    }
}

static int raise_status(MPI_Comm comm, int status, const char* why) {
    int length = 0, error_class = status;
    char text[MPI_MAX_ERROR_STRING] = "failed";
    if (why[0] == '\0' && PMPI_Error_string(status, text, &length) == MPI_SUCCESS) why = text;
    PMPI_Error_class(status, &error_class);
    return raise_error(comm, error_class, name, "%s", why);
}

int topoloom_sparse_exchange(int send_count, const int destinations[], const int sendcounts[],
                             const void* sendbuf, const int sdispls[], MPI_Datatype sendtype,
                             int* receive_count, int** sources, int** recvcounts, void* recvbuf,
                             MPI_Datatype recvtype, MPI_Comm comm) {
    struct comm_state* state = NULL;
    int status = open_state(comm, &state);
    if (status != MPI_SUCCESS) return status;
    const struct given given = {send_count, destinations, sendcounts, sdispls, sendbuf, sendtype};
    struct type_desc elements = {0};
    status = check_send_arguments(&given, comm, state->ranks);
    if (status == MPI_SUCCESS) status = describe_receive(recvtype, comm, &elements);
    if (status != MPI_SUCCESS) return status;
    if (receive_count == NULL || sources == NULL || recvcounts == NULL || recvbuf == NULL)
        return raise_error(comm, MPI_ERR_ARG, name, "an output argument is NULL");
    status = finish_setup(state);
    if (status != MPI_SUCCESS) return raise_status(comm, status, "");
    struct exchange exchange = {.comm = comm, .state = state, .announced_above = part_bytes};
    take_tags(state, &exchange);
    struct delivery delivery = {0};
    char why[160] = "";
    status = list_outgoing(&exchange, &given);
    if (status == MPI_SUCCESS) status = add_own_parts(&exchange);
    if (status == MPI_SUCCESS) status = find_arrivals(&exchange);
    if (status == MPI_SUCCESS) status = deliver(&exchange, &elements, &delivery, why, sizeof why);
    if (exchange.is_over) {
        exchange_free_all(&exchange);
    } else {
        // MPI may still write to the memory, and a later exchange could match messages of this one.
        state->error = status;
    }
    if (status != MPI_SUCCESS) return raise_status(comm, status, why);
    *receive_count = delivery.count;
    *sources = delivery.sources;
    *recvcounts = delivery.counts;
    memcpy(recvbuf, &delivery.buffer, sizeof delivery.buffer);
    return MPI_SUCCESS;
}

int topoloom_sparse_free(int** sources, int** recvcounts, void* recvbuf) {
    if (sources == NULL || recvcounts == NULL || recvbuf == NULL) return MPI_ERR_ARG;
    free(*sources);
    *sources = NULL;
    *recvcounts = NULL;
    memset(recvbuf, 0, sizeof(void*));
    return MPI_SUCCESS;
}
