// SPDX-License-Identifier: BSD-3-Clause
// Public functions: check arguments, run the selected algorithm, and return the received messages.
#include <stdlib.h>
#include <string.h>

#include "exchange.h"
#include "topoloom_exchange.h"

static const char name[] = "sparse_exchange";

static int check_send_arguments(const struct send_arguments* send_arguments, MPI_Comm comm, int ranks) {
    if (send_arguments->count < 0)
        return raise_error(comm, MPI_ERR_COUNT, name, "send_count is %d, but must not be negative",
                           send_arguments->count);
    if (send_arguments->type == MPI_DATATYPE_NULL)
        return raise_error(comm, MPI_ERR_TYPE, name, "sendtype is MPI_DATATYPE_NULL");
    if (send_arguments->count > 0 && (send_arguments->destinations == NULL || send_arguments->counts == NULL))
        return raise_error(comm, MPI_ERR_ARG, name, "%s is NULL, but there are messages",
                           send_arguments->destinations == NULL ? "destinations" : "sendcounts");
    bool has_any = false;
    for (int i = 0; i < send_arguments->count; ++i) {
        if (send_arguments->destinations[i] < 0 || send_arguments->destinations[i] >= ranks)
            return raise_error(comm, MPI_ERR_RANK, name, "destinations[%d] is %d, but ranks are 0 to %d", i,
                               send_arguments->destinations[i], ranks - 1);
        if (send_arguments->counts[i] < 0)
            return raise_error(comm, MPI_ERR_COUNT, name, "sendcounts[%d] is %d, but must not be negative", i,
                               send_arguments->counts[i]);
        has_any = has_any || send_arguments->counts[i] > 0;
    }
    if (send_arguments->buffer != NULL || !has_any) return MPI_SUCCESS;
    struct type_desc elements;
    const int status = describe_type(send_arguments->type, &elements);
    // With a datatype of absolute addresses, the buffer may be NULL.
    if (status != MPI_SUCCESS || elements.size == 0 || elements.true_lb != 0) return status;
    return raise_error(comm, MPI_ERR_BUFFER, name, "sendbuf is NULL");
}

static int describe_receive_type(MPI_Datatype type, MPI_Comm comm, struct type_desc* elements) {
    if (type == MPI_DATATYPE_NULL)
        return raise_error(comm, MPI_ERR_TYPE, name, "recvtype is MPI_DATATYPE_NULL");
    const int status = describe_type(type, elements);
    if (status != MPI_SUCCESS || elements->extent >= 0) return status;
    return raise_error(comm, MPI_ERR_TYPE, name, "the extent of recvtype is %lld B, but must not be negative",
                       (long long)elements->extent);
}

/// Selects the tags of an exchange. Every algorithm synchronizes: no rank leaves an exchange before all have entered
/// it. So when a rank begins exchange n + 2, all ranks have left exchange n, and two alternating pairs of tags suffice.
static void select_tags(struct comm_state* state, struct exchange* exchange) {
    exchange->direct_tag = 2 * state->tags_per_kind + 2 * state->exchange_parity;
    exchange->bundle_tag = exchange->direct_tag + 1;
    state->exchange_parity = !state->exchange_parity;
}

/// Runs the selected algorithm. The mesh is the default, because it is fastest for all numbers and sizes of messages.
static int run_selected_algorithm(struct exchange* exchange) {
    switch (exchange->state->exchange) {
        case exchange_reduction:
            return exchange_by_reduction(exchange);
        case exchange_nbx:
            return exchange_by_nbx(exchange);
        default:
            return exchange_by_mesh(exchange);
    }
}

static int raise_mpi_error(MPI_Comm comm, int status, const char* reason) {
    int length = 0, error_class = status;
    char text[MPI_MAX_ERROR_STRING] = "failed";
    if (reason[0] == '\0' && PMPI_Error_string(status, text, &length) == MPI_SUCCESS) reason = text;
    PMPI_Error_class(status, &error_class);
    return raise_error(comm, error_class, name, "%s", reason);
}

int topoloom_sparse_exchange(int send_count, const int destinations[], const int sendcounts[],
                             const void* sendbuf, const int sdispls[], MPI_Datatype sendtype,
                             int* receive_count, int** sources, int** recvcounts, void* recvbuf,
                             MPI_Datatype recvtype, MPI_Comm comm) {
    struct comm_state* state = NULL;
    int status = open_state(comm, &state);
    if (status != MPI_SUCCESS) return status;
    const struct send_arguments send_arguments = {send_count, destinations, sendcounts,
                                                  sdispls,    sendbuf,      sendtype};
    struct type_desc elements = {0};
    status = check_send_arguments(&send_arguments, comm, state->ranks);
    if (status == MPI_SUCCESS) status = describe_receive_type(recvtype, comm, &elements);
    if (status != MPI_SUCCESS) return status;
    if (receive_count == NULL || sources == NULL || recvcounts == NULL || recvbuf == NULL)
        return raise_error(comm, MPI_ERR_ARG, name, "an output argument is NULL");
    status = finish_setup(state);
    if (status != MPI_SUCCESS) return raise_mpi_error(comm, status, "");
    struct exchange exchange = {.comm = comm, .state = state, .announced_above = part_bytes};
    select_tags(state, &exchange);
    struct delivery delivery = {0};
    char reason[160] = "";
    status = list_outgoing_parts(&exchange, &send_arguments);
    if (status == MPI_SUCCESS) status = add_own_parts(&exchange);
    if (status == MPI_SUCCESS) status = run_selected_algorithm(&exchange);
    if (status == MPI_SUCCESS)
        status = deliver_messages(&exchange, &elements, &delivery, reason, sizeof reason);
    if (exchange.is_complete) {
        free_exchange_memory(&exchange);
    } else {
        // Do not free: MPI may still write to the memory. Disable the state: a later exchange could match messages of
        // this one.
        state->error = status;
    }
    if (status != MPI_SUCCESS) return raise_mpi_error(comm, status, reason);
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
