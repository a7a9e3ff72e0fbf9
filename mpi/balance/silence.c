// SPDX-License-Identifier: BSD-3-Clause
// A rank that others wait for in vain, as it has died or hangs: they say so instead of waiting for ever.
#include <stdio.h>

#include "errors.h"
#include "moving.h"

bool lost_patience(struct topoloom_tasks_moving* moving, bool happened) {
    if (moving->plan->patience <= 0) return false;
    const double now = PMPI_Wtime();
    if (happened || moving->since <= 0) moving->since = now;
    return now - moving->since > moving->plan->patience;
}

static size_t name_silent(char* text, size_t size, size_t at, const struct side* sides, int count) {
    for (int i = 0; i < count && at < size; ++i) {
        if (!sides[i].is_silent) continue;
        const int written = snprintf(text + at, size - at, "%srank %d", at > 0 ? ", " : "", sides[i].rank);
        at += written > 0 ? (size_t)written : 0;
    }
    return at;
}

int raise_silence(const struct topoloom_tasks_moving* moving) {
    const struct plan* plan = moving->plan;
    char ranks[128] = "";
    const size_t at = name_silent(ranks, sizeof ranks, 0, moving->to, plan->front.to_count);
    name_silent(ranks, sizeof ranks, at, moving->from, plan->front.from_count);
    return raise_error(plan->state->own, MPI_ERR_OTHER, "exchange", "rank %d has waited for %g s for %s",
                       plan->state->rank, plan->patience, ranks);
}
