// SPDX-License-Identifier: BSD-3-Clause
// Exchange by a reduction: the sum of part counts is the number of parts that each rank receives.
#include <string.h>

#include "exchange.h"

int exchange_by_reduction(struct exchange* exchange) {
    const struct comm_state* state = exchange->state;
    int* counts = allocate_exchange_memory(exchange, (size_t)state->ranks * sizeof *counts);
    if (counts == NULL) return MPI_ERR_NO_MEM;
    memset(counts, 0, (size_t)state->ranks * sizeof *counts);
    for (size_t i = 0; i < exchange->outgoing_count; ++i)
        counts[exchange->outgoing[i].destination] += exchange->outgoing[i].destination != state->rank;
    // Send parts now, so that they are in flight during the reduction.
    int status = start_sends(exchange, -1, false);
    int incoming = 0;
    if (status == MPI_SUCCESS)
        status = topoloom_reduce_scatter_block(counts, &incoming, 1, MPI_INT, MPI_SUM, exchange->comm);
    for (; status == MPI_SUCCESS && incoming > 0; --incoming) {
        MPI_Status probed;
        status = PMPI_Probe(MPI_ANY_SOURCE, exchange->direct_tag, state->duplicate, &probed);
        if (status == MPI_SUCCESS) status = receive_probed_part(exchange, &probed);
    }
    return status;
}
