// SPDX-License-Identifier: BSD-3-Clause
// Detects the end of a phase: all ranks are idle, and no message is in flight.
//
// An idle rank joins a wave: a reduction of the numbers of messages sent and received. Meanwhile it continues to
// receive, and handlers may send. Every message carries the number of waves that its sender has joined. A message sent
// after joining a wave is counted as received only after the receiver has joined this wave. So the sums are taken at a
// consistent cut (Lai, Yang, IPL 1987). If the sums are equal, no message crosses the cut, and all ranks were idle at
// the cut, so no rank can become active again. After the last message, at most one wave is in progress, and the next
// wave detects the end.
//
// If items travel over several hops, each hop is a separate message. A rank with items for other ranks is not idle:
// forwarding an item is equivalent to a push by a handler.
#ifndef TOPOLOOM_STREAM_QUIESCENCE_H
#define TOPOLOOM_STREAM_QUIESCENCE_H

#include <stdbool.h>
#include <stdint.h>

/// Header of every message. The numbers wrap around, so only differences are meaningful.
struct stamp {
    uint32_t phase, wave;
};

struct quiescence {
    int64_t sent, received;
    int64_t early;  // messages received before this rank has joined the wave that the sender had joined
    uint32_t phase, wave;
    bool in_wave;
};

static inline struct stamp count_sent(struct quiescence* q) {
    ++q->sent;
    const struct stamp stamp = {q->phase, q->wave};
    return stamp;
}

/// Whether the sender has detected the end of the phase, but this rank has not. Then the message must wait, and is not
/// yet counted.
static inline bool is_of_next_phase(const struct quiescence* q, struct stamp stamp) {
    return stamp.phase != q->phase;
}

static inline void count_received(struct quiescence* q, struct stamp stamp) {
    if ((int32_t)(stamp.wave - q->wave) > 0)
        ++q->early;
    else
        ++q->received;
}

/// Joins a wave. Writes this rank's contribution: the numbers of messages sent and received. The rank must be idle.
static inline void join_wave(struct quiescence* q, int64_t counts[2]) {
    counts[0] = q->sent;
    counts[1] = q->received;
    q->received += q->early;
    q->early = 0;
    ++q->wave;
    q->in_wave = true;
}

/// Ends a wave with the sums over all ranks. Returns whether the phase has ended.
static inline bool end_wave(struct quiescence* q, const int64_t sums[2]) {
    q->in_wave = false;
    const bool ended = sums[0] == sums[1];
    q->phase += ended;
    return ended;
}

#endif
