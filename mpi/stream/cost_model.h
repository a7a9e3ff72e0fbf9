// SPDX-License-Identifier: BSD-3-Clause
// Cost model of a phase over a mesh. Independent of MPI, so that a test can check it with known cases.
//
// Items in a bucket share the cost of a message: alpha + header * beta per message, and beta per byte on each hop
// (Kumar 2005, section 5.6). Destinations are modeled as uniformly random.
#ifndef TOPOLOOM_STREAM_COST_MODEL_H
#define TOPOLOOM_STREAM_COST_MODEL_H

#include "mesh.h"

/// Mean traffic per rank in a phase.
struct traffic {
    double items, bytes;  // number of items pushed to other ranks, and bytes per item
    double destinations;  // number of ranks pushed to
};

struct network {
    double alpha, beta;  // seconds per message and per byte
};

static const double done_idle_seconds =
    1e-5;  // seconds after which an idle rank that is done flushes: about the time of a message
static const double item_seconds = 1e-8;  // CPU time to push or forward an item

static inline double min_of_two(double left, double right) { return left < right ? left : right; }
static inline double max_of_two(double left, double right) { return left > right ? left : right; }

static inline double count_buckets(double bytes, double bytes_per_bucket) {
    const int64_t full = (int64_t)(bytes / bytes_per_bucket);
    return (double)full + ((double)full * bytes_per_bucket < bytes);
}

/// Expected number of distinct values, not counting one fixed value, among `draws` random draws from `extent`
/// values.
static inline double compute_expected_distinct(double extent, double draws) {
    double missed = 1, factor = 1 - 1 / extent;
    for (int64_t left = (int64_t)(draws + 0.5); left > 0; left /= 2, factor *= factor)
        if (left % 2 == 1) missed *= factor;
    return (extent - 1) * (1 - missed);
}

/// Predicts the seconds that a rank needs for a phase. `used_hops` is the number of next hops that the rank sends to.
static inline double predict_phase_seconds(const struct mesh* mesh, struct network network,
                                           struct traffic traffic, double bucket_bytes, double* used_hops) {
    enum { header = 8, address = 4 };
    const int axes = mesh->axes;
    const double to_others = mesh->ranks > 1 ? mesh->ranks / (mesh->ranks - 1.0) : 1;
    double seconds = (axes - 1) * done_idle_seconds, targets = traffic.destinations;
    *used_hops = 0;
    for (int a = axes - 1; a >= 0; --a) {
        const double extent = mesh->extents[a];
        const double items = axes == 1 ? traffic.items : traffic.items * to_others * (1 - 1 / extent);
        const double hops = axes == 1 ? targets : compute_expected_distinct(extent, targets);
        targets = min_of_two(targets * extent, mesh->ranks);
        if (hops <= 0 || items <= 0) continue;
        const double record = traffic.bytes + (a > 0 ? address : 0);
        const double payload = max_of_two(bucket_bytes - header, record);
        const double per_hop = items / hops * record;
        seconds += hops * count_buckets(per_hop, payload) * (network.alpha + header * network.beta);
        seconds += items * (record * network.beta + item_seconds);
        // The delivery of the last bucket does not overlap with other work.
        if (a == 0) seconds += min_of_two(per_hop, payload) * network.beta;
        *used_hops += hops;
    }
    return seconds;
}

#endif
