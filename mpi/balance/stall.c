// SPDX-License-Identifier: BSD-3-Clause
// Detects stalls: if a rank has died or hangs, ranks that wait for it raise an error instead of hanging.
#include <stdio.h>

#include "errors.h"
#include "transfers.h"

bool update_stall_timer(struct topoloom_exchange_state* exchange, bool has_progressed) {
    if (exchange->plan->stall_timeout <= 0) return false;
    const double now = PMPI_Wtime();
    if (has_progressed || exchange->last_progress <= 0) exchange->last_progress = now;
    return now - exchange->last_progress > exchange->plan->stall_timeout;
}

static size_t append_stalled_ranks(char* text, size_t size, size_t length, const struct transfer* transfers,
                                   int count) {
    for (int i = 0; i < count && length < size; ++i) {
        if (!transfers[i].has_stalled) continue;
        const int written =
            snprintf(text + length, size - length, "%srank %d", length > 0 ? ", " : "", transfers[i].rank);
        length += written > 0 ? (size_t)written : 0;
    }
    return length;
}

int raise_stall(const struct topoloom_exchange_state* exchange) {
    const struct plan* plan = exchange->plan;
    char ranks[128] = "";
    const size_t length = append_stalled_ranks(ranks, sizeof ranks, 0, exchange->to, plan->shares.to_count);
    append_stalled_ranks(ranks, sizeof ranks, length, exchange->from, plan->shares.from_count);
    return raise_error(plan->state->own, MPI_ERR_OTHER, "exchange", "rank %d has waited for %g s for %s",
                       plan->state->rank, plan->stall_timeout, ranks);
}
