// SPDX-License-Identifier: BSD-3-Clause
// What a phase takes over a mesh, by a model: free of MPI, so that a test can compare it with what is known.
//
// Items wait in buckets, so that a message's cost is shared by those in it: alpha + header beta per message, and beta per byte on
// each hop (Kumar 2005, section 5.6). Targets are taken as drawn from all ranks.
#ifndef TOPOLOOM_STREAM_CHOICE_H
#define TOPOLOOM_STREAM_CHOICE_H

#include "mesh.h"

/// Of a rank in a phase, on average.
struct traffic {
    double items, bytes;  // pushed to others, and bytes of an item
    double partners;      // ranks that it pushed to
};

/// Seconds.
struct network {
    double alpha, beta;  // of a message, and of a byte
};

static const double least_lull = 1e-5;    // s until a rank that is done passes on: about what a message takes
static const double item_seconds = 1e-8;  // of the CPU, to push an item or pass it on

static inline double lesser(double one, double other) { return one < other ? one : other; }
static inline double greater(double one, double other) { return one > other ? one : other; }

/// Buckets of `room` that `bytes` take.
static inline double bucket_count(double bytes, double room) {
    const int64_t full = (int64_t)(bytes / room);
    return (double)full + ((double)full * room < bytes);
}

/// Of that many drawn from `extent`, which are different from each other and from one's own, on average.
static inline double different(double extent, double drawn) {
    double missed = 1, factor = 1 - 1 / extent;
    for (int64_t left = (int64_t)(drawn + 0.5); left > 0; left /= 2, factor *= factor)
        if (left % 2 == 1) missed *= factor;
    return (extent - 1) * (1 - missed);
}

/// Seconds of a rank's phase, with buckets of `bucket` bytes; `used`: hops that it sends along.
static inline double phase_seconds(const struct mesh* mesh, struct network network, struct traffic traffic,
                                   double bucket, double* used) {
    enum { header = 8, address = 4 };
    const int axes = mesh->axes;
    const double to_others = mesh->ranks > 1 ? mesh->ranks / (mesh->ranks - 1.0) : 1;
    double seconds = (axes - 1) * least_lull, targets = traffic.partners;
    *used = 0;
    for (int a = axes - 1; a >= 0; --a) {
        const double extent = mesh->extents[a];
        const double items = axes == 1 ? traffic.items : traffic.items * to_others * (1 - 1 / extent);
        const double hops = axes == 1 ? targets : different(extent, targets);
        targets = lesser(targets * extent, mesh->ranks);
        if (hops <= 0 || items <= 0) continue;
        const double bytes = traffic.bytes + (a > 0 ? address : 0), room = greater(bucket - header, bytes);
        const double on_hop = items / hops * bytes, first = lesser(on_hop, room);
        seconds += hops * bucket_count(on_hop, room) * (network.alpha + header * network.beta);
        seconds += items * (bytes * network.beta + item_seconds);
        // The last bucket is taken when nothing is left to send meanwhile.
        if (a == 0) seconds += first * network.beta;
        *used += hops;
    }
    return seconds;
}

#endif
