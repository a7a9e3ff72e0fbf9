// SPDX-License-Identifier: BSD-3-Clause
// Chooses dimensions, buckets and timeout where the program leaves that open. Rank 0 does it at the end of a phase, from sums over all
// ranks that come with the wave, and the choice goes down the tree with them: it is the same on all ranks, and known before
// any of them may push.
#include "choice.h"

#include <stdlib.h>

#include "stream.h"

enum { most_first_hops = 128 };

int first_dimensions(const struct stream* stream) {
    int dimensions = 1;
    for (; dimensions < most_axes; ++dimensions) {
        int extents[most_axes], hops = 0;
        extents_along(stream, dimensions, extents);
        for (int a = 0; a < dimensions; ++a) hops += extents[a];
        if (hops <= most_first_hops) break;
    }
    return dimensions;
}

/// Seconds per message of those that all ranks send at once, halfway round.
static int time_messages(const struct stream* stream, int bytes, int tag, double* seconds) {
    enum { repeats = 3, messages = 16 };
    const int ranks = stream->ranks, half = (ranks + 1) / 2;
    const int to = (stream->rank + half) % ranks, from = (stream->rank + ranks - half) % ranks;
    char* memory = calloc(messages + 1, (size_t)bytes);
    int status = memory == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    *seconds = 0;
    for (int i = 0; i < repeats && status == MPI_SUCCESS; ++i) {
        MPI_Request requests[2 * messages];
        const double begin = PMPI_Wtime();
        for (int m = 0; m < messages; ++m)
            PMPI_Irecv(memory + (size_t)m * (size_t)bytes, bytes, MPI_BYTE, from, tag, stream->comm,
                       &requests[m]);
        for (int m = 0; m < messages; ++m)
            PMPI_Isend(memory + (size_t)messages * (size_t)bytes, bytes, MPI_BYTE, to, tag, stream->comm,
                       &requests[messages + m]);
        status = PMPI_Waitall(2 * messages, requests, MPI_STATUSES_IGNORE);
        const double spent = (PMPI_Wtime() - begin) / messages;
        if (i == 0 || spent < *seconds) *seconds = spent;
    }
    free(memory);
    return status;
}

int measure_network(struct stream* stream) {
    enum { small = 16, large = 8192 };
    struct choice* choice = &stream->choice;
    double times[2] = {0, 0}, sums[2];
    int status = MPI_SUCCESS;
    if (choice->alpha > 0 && choice->beta > 0) return status;
    status = time_messages(stream, small, tag_small, &times[0]);
    if (status == MPI_SUCCESS) status = time_messages(stream, large, tag_large, &times[1]);
    if (status == MPI_SUCCESS) status = PMPI_Allreduce(times, sums, 2, MPI_DOUBLE, MPI_SUM, stream->comm);
    if (status != MPI_SUCCESS) return status;
    const double per_byte = (sums[1] - sums[0]) / stream->ranks / (large - small);
    if (choice->beta <= 0) choice->beta = per_byte > 0 ? per_byte : 0;
    if (choice->alpha <= 0) choice->alpha = greater(sums[0] / stream->ranks - small * choice->beta, 0);
    return status;
}

static struct mesh mesh_of(const struct stream* stream, int dimensions) {
    int extents[most_axes];
    extents_along(stream, dimensions, extents);
    return make_mesh(stream->ranks, dimensions, extents);
}

static int hops_of(const struct mesh* mesh) {
    int hops = 0;
    for (int a = 0; a < mesh->axes; ++a) hops += mesh->extents[a];
    return hops;
}

struct candidate {
    int dimensions, bucket;
    double seconds, timeout;
};

static struct candidate rate(const struct stream* stream, struct traffic traffic, int dimensions,
                             int bucket) {
    const double calm = 10;  // times what it takes to send all buckets, between two timeouts
    const double least_timeout = 1e-4, most_timeout = 1e-2;
    const struct mesh mesh = mesh_of(stream, dimensions);
    const struct network network = {stream->choice.alpha, stream->choice.beta};
    double used = 0;
    const double seconds = phase_seconds(&mesh, network, traffic, bucket, &used);
    const double timeout = lesser(greater(calm * used * network.alpha, least_timeout), most_timeout);
    return (struct candidate){dimensions, bucket, seconds, timeout};
}

/// The best; what there is unless another takes a twentieth less.
static struct candidate choose(const struct stream* stream, struct traffic traffic) {
    const double enough = 0.95;
    const struct choice* choice = &stream->choice;
    struct candidate now = rate(stream, traffic, stream->axis_count, stream->bucket_bytes), best = now;
    for (int d = 1; d <= most_axes; ++d) {
        const struct mesh mesh = mesh_of(stream, d);
        if (mesh.axes != d) continue;
        const int most = choice->is_bucket_given ? stream->bucket_bytes
                                                 : standard_bucket(hops_of(&mesh), stream->memory_bytes != 0);
        for (int bucket = most; bucket >= choice->least_bucket; bucket /= 2) {
            if (is_beyond(stream->memory_bytes, d, bucket)) continue;
            const struct candidate one = rate(stream, traffic, d, bucket);
            if (one.seconds < best.seconds) best = one;
            if (choice->is_bucket_given) break;
        }
    }
    return best.seconds < enough * now.seconds ? best : now;
}

void choose_next(const struct stream* stream, int64_t sums[wave_values]) {
    const double ranks = stream->ranks, items = (double)sums[wave_items];
    if (!stream->choice.is_open || sums[wave_sent] != sums[wave_received]) return;
    if (items == 0) {
        sums[wave_dimensions] = 0;
        return;
    }
    const struct traffic traffic = {items / ranks, (double)sums[wave_bytes] / items,
                                    (double)sums[wave_partners] / ranks};
    const struct candidate next = choose(stream, traffic);
    sums[wave_dimensions] = next.dimensions;
    sums[wave_bucket] = next.bucket;
    sums[wave_timeout] = (int64_t)(1e9 * next.timeout);
}

int follow_choice(struct stream* stream, const int64_t sums[wave_values]) {
    const int dimensions = (int)sums[wave_dimensions], bucket = (int)sums[wave_bucket];
    stream->tally = (struct tally){0};
    if (!stream->choice.is_open) return MPI_SUCCESS;
    for (int i = 0; i < stream->ranks; ++i) stream->choice.is_partner[i] = false;
    if (dimensions == 0) return MPI_SUCCESS;
    if (!stream->choice.is_timeout_given) stream->timeout = 1e-9 * (double)sums[wave_timeout];
    if (dimensions == stream->axis_count && bucket == stream->bucket_bytes) return MPI_SUCCESS;
    return change_layout(stream, dimensions, bucket);
}
