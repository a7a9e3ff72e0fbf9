// SPDX-License-Identifier: BSD-3-Clause
// Detects the end of a phase: all ranks are idle, and no message is in flight.
//
// An idle rank joins a wave, a reduction of the numbers of messages sent and received. It goes on receiving meanwhile,
// and handlers may send. Every message carries the number of waves its sender had joined. A message sent after that
// counts as received only once the receiver has joined, too. So the sums are those of a consistent cut (Lai, Yang,
// IPL 1987). If they are equal, no message crosses the cut and all ranks were idle at it: nothing can wake them.
// One wave that begins after the last message is enough, and at most one was in progress before.
//
// If items travel over several hops, each hop is a message of its own. A rank that holds items for others is not idle:
// forwarding them is like a push of a handler.
#ifndef TOPOLOOM_STREAM_QUIESCENCE_H
#define TOPOLOOM_STREAM_QUIESCENCE_H

#include <stdbool.h>
#include <stdint.h>

/// Carried by every message. The numbers wrap around: only their differences count.
struct stamp {
    uint32_t phase, wave;
};

struct quiescence {
    int64_t sent, received;
    int64_t early;  // received before this rank has joined the wave that the sender had joined
    uint32_t phase, wave;
    bool in_wave;
};

static inline struct stamp count_sent(struct quiescence* q) {
    ++q->sent;
    const struct stamp stamp = {q->phase, q->wave};
    return stamp;
}

/// The sender knows that the phase has ended, and this rank does not: the message must wait, uncounted.
static inline bool is_of_next_phase(const struct quiescence* q, struct stamp stamp) {
    return stamp.phase != q->phase;
}

static inline void count_received(struct quiescence* q, struct stamp stamp) {
    if ((int32_t)(stamp.wave - q->wave) > 0)
        ++q->early;
    else
        ++q->received;
}

/// Writes this rank's contribution to the sums: messages sent and received. Requires an idle rank.
static inline void join_wave(struct quiescence* q, int64_t counts[2]) {
    counts[0] = q->sent;
    counts[1] = q->received;
    q->received += q->early;
    q->early = 0;
    ++q->wave;
    q->in_wave = true;
}

/// Takes the sums over all ranks. Returns whether the phase has ended.
static inline bool end_wave(struct quiescence* q, const int64_t sums[2]) {
    q->in_wave = false;
    const bool ended = sums[0] == sums[1];
    q->phase += ended;
    return ended;
}

#endif
