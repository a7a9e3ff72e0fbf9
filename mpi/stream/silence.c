// SPDX-License-Identifier: BSD-3-Clause
// A rank that others wait for in vain, as it has died or hangs: they say so instead of waiting for ever.
#include <stdio.h>

#include "stream.h"

static size_t name_rank(char* text, size_t size, size_t at, int rank) {
    const int written = at < size ? snprintf(text + at, size - at, "%srank %d", at > 0 ? ", " : "", rank) : 0;
    return at + (written > 0 ? (size_t)written : 0);
}

/// Who waits for another that waits is more patient, so that who knows most speaks first: by up to twice.
static double patience_of(const struct stream* stream) {
    int awaited[most_children], levels = 0, below = 0;
    for (int left = stream->ranks; left > 1; left /= 2) ++levels;
    for (int left = 2 * stream->rank + 2; left < stream->ranks; left = 2 * left + 1) ++below;
    const bool is_parent = awaited_ranks(stream, awaited) > 0 && awaited[0] < stream->rank;
    for (int h = 0; h < stream->hop_count; ++h)
        if (stream->hops[h].in_flight > 0) return stream->silence.patience;
    const double share = levels > 0 ? (double)below / levels : 0;
    return stream->silence.patience * (1 + (is_parent ? 1 - share / 2 : share / 2));
}

/// Hops that take no messages, or else those that the wave waits for: they may wait for others.
static const char* name_silent(const struct stream* stream, char* text, size_t size) {
    size_t at = 0;
    text[0] = '\0';
    for (int h = 0; h < stream->hop_count; ++h)
        if (stream->hops[h].in_flight > 0) at = name_rank(text, size, at, stream->hops[h].rank);
    if (at > 0) return "messages are not taken by";
    int awaited[most_children];
    const int count = awaited_ranks(stream, awaited);
    for (int i = 0; i < count; ++i) at = name_rank(text, size, at, awaited[i]);
    return "no word of the end comes from";
}

int check_silence(struct stream* stream, bool moved) {
    struct silence* silence = &stream->silence;
    if (silence->patience <= 0) return MPI_SUCCESS;
    const double now = PMPI_Wtime();
    const bool waits = stream->is_done || stream->lacks_room;
    const bool is_asked = stream->axes[0].count > 0 || stream->own.first != NULL;  // to take items
    if (moved || !waits || stream->has_ended || is_asked || silence->since == 0) silence->since = now;
    if (now - silence->since < silence->patience || now - silence->since < patience_of(stream))
        return MPI_SUCCESS;
    silence->since = now;
    char ranks[128];
    const char* what = name_silent(stream, ranks, sizeof ranks);
    const char* call = stream->is_done ? "stream_progress" : "stream_push";
    return raise_error(stream->comm, MPI_ERR_OTHER, call, "rank %d has waited for %g s: %s %s", stream->rank,
                       silence->patience, what, ranks);
}
