// SPDX-License-Identifier: BSD-3-Clause
// When a phase has ended: all ranks are idle, and no message is under way.
//
// A rank joins a wave, a reduction of the numbers of messages sent and received, when it is idle; it goes on receiving,
// and handlers may send. Every message says how many waves its sender had joined. What the sender sent after it joined
// does not count as received before the receiver has joined, too, so that the sums are those of a consistent cut (Lai,
// Yang, IPL 1987): if they are equal no message crosses the cut, all ranks were idle at it, and nothing can wake them.
// One wave that begins after the last message is enough, and at most one was under way before.
//
// Where items travel by several hops, each hop is a message of its own, and a rank that holds items for others is not idle:
// to pass them on is what a handler does that pushes.
#ifndef TOPOLOOM_STREAM_QUIESCENCE_H
#define TOPOLOOM_STREAM_QUIESCENCE_H

#include <stdbool.h>
#include <stdint.h>

/// What a message carries. Differences count, as they wrap around.
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

/// The sender knows that the phase has ended, and this rank does not: the message must wait, and is not yet counted.
static inline bool is_of_next_phase(const struct quiescence* q, struct stamp stamp) {
    return stamp.phase != q->phase;
}

static inline void count_received(struct quiescence* q, struct stamp stamp) {
    if ((int32_t)(stamp.wave - q->wave) > 0)
        ++q->early;
    else
        ++q->received;
}

/// What an idle rank contributes to the sums: messages sent and received.
static inline void join_wave(struct quiescence* q, int64_t counts[2]) {
    counts[0] = q->sent;
    counts[1] = q->received;
    q->received += q->early;
    q->early = 0;
    ++q->wave;
    q->in_wave = true;
}

/// With the sums over all ranks. Returns whether the phase has ended.
static inline bool end_wave(struct quiescence* q, const int64_t sums[2]) {
    q->in_wave = false;
    const bool ended = sums[0] == sums[1];
    q->phase += ended;
    return ended;
}

#endif
