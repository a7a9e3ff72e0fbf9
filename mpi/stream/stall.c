// SPDX-License-Identifier: BSD-3-Clause
// Detects stalls: if a rank has died or hangs, ranks that wait for it raise an error instead of hanging.
#include <stdio.h>

#include "stream.h"

static size_t append_rank(char* text, size_t size, size_t length, int rank) {
    if (length >= size) return length;
    const int written = snprintf(text + length, size - length, "%srank %d", length > 0 ? ", " : "", rank);
    return length + (written > 0 ? (size_t)written : 0);
}

/// Extends the timeout of ranks that wait for other waiting ranks, by a factor of up to 2. So a rank that
/// waits for the stalled rank itself reports first.
static double get_scaled_timeout(const struct stream* stream) {
    int awaited[max_children], levels = 0, below = 0;
    for (int left = stream->ranks; left > 1; left /= 2) ++levels;
    for (int left = 2 * stream->rank + 2; left < stream->ranks; left = 2 * left + 1) ++below;
    const bool is_parent_awaited = list_awaited_ranks(stream, awaited) > 0 && awaited[0] < stream->rank;
    for (int h = 0; h < stream->hop_count; ++h)
        if (stream->hops[h].in_flight > 0) return stream->stall.timeout;
    const double share = levels > 0 ? (double)below / levels : 0;
    return stream->stall.timeout * (1 + (is_parent_awaited ? 1 - share / 2 : share / 2));
}

/// Lists the next hops that do not receive, or else the ranks that the wave waits for. Returns a description of what
/// these ranks fail to do.
static const char* list_unresponsive_ranks(const struct stream* stream, char* text, size_t size) {
    size_t length = 0;
    text[0] = '\0';
    for (int h = 0; h < stream->hop_count; ++h)
        if (stream->hops[h].in_flight > 0) length = append_rank(text, size, length, stream->hops[h].rank);
    if (length > 0) return "messages are not received by";
    int awaited[max_children];
    const int count = list_awaited_ranks(stream, awaited);
    for (int i = 0; i < count; ++i) length = append_rank(text, size, length, awaited[i]);
    return "the end of the phase is not confirmed by";
}

int check_stall(struct stream* stream, bool has_progressed) {
    struct stall* stall = &stream->stall;
    if (stall->timeout <= 0) return MPI_SUCCESS;
    const double now = PMPI_Wtime();
    const bool is_waiting = stream->is_done || stream->is_blocked;
    const bool must_deliver = stream->axes[0].incoming_count > 0 || stream->local.first != NULL;
    if (has_progressed || !is_waiting || stream->has_ended || must_deliver || stall->since == 0)
        stall->since = now;
    if (now - stall->since < stall->timeout || now - stall->since < get_scaled_timeout(stream))
        return MPI_SUCCESS;
    stall->since = now;
    char ranks[128];
    const char* what = list_unresponsive_ranks(stream, ranks, sizeof ranks);
    const char* call = stream->is_done ? "stream_progress" : "stream_push";
    return raise_error(stream->comm, MPI_ERR_OTHER, call, "rank %d has waited for %g s: %s %s", stream->rank,
                       stall->timeout, what, ranks);
}
