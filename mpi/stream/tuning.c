// SPDX-License-Identifier: BSD-3-Clause
// Chooses mesh, bucket size and flush timeout unless the program specifies them. At the end of a phase, rank 0 chooses
// from the sums of the wave. The settings are sent down the tree with the sums, so all ranks have the same settings
// before any rank may push again.
#include <stdlib.h>

#include "cost_model.h"
#include "stream.h"

int choose_initial_dimensions(const struct stream* stream) {
    enum { max_initial_hops = 128 };
    int dimensions = 1;
    for (; dimensions < max_axes; ++dimensions) {
        int extents[max_axes], hops = 0;
        choose_extents_by_node(stream, dimensions, extents);
        for (int a = 0; a < dimensions; ++a) hops += extents[a];
        if (hops <= max_initial_hops) break;
    }
    return dimensions;
}

/// Measures the seconds per message while rank r sends to rank r + P / 2 (modulo P), for all r at once.
static int measure_message_time(const struct stream* stream, int bytes, int tag, double* seconds) {
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
    struct tuning* tuning = &stream->tuning;
    double times[2] = {0, 0}, sums[2];
    int status = MPI_SUCCESS;
    if (tuning->alpha > 0 && tuning->beta > 0) return status;
    status = measure_message_time(stream, small, tag_small, &times[0]);
    if (status == MPI_SUCCESS) status = measure_message_time(stream, large, tag_large, &times[1]);
    if (status == MPI_SUCCESS) status = PMPI_Allreduce(times, sums, 2, MPI_DOUBLE, MPI_SUM, stream->comm);
    if (status != MPI_SUCCESS) return status;
    const double per_byte = (sums[1] - sums[0]) / stream->ranks / (large - small);
    if (tuning->beta <= 0) tuning->beta = max_of_two(per_byte, 0);
    if (tuning->alpha <= 0) tuning->alpha = max_of_two(sums[0] / stream->ranks - small * tuning->beta, 0);
    return status;
}

static struct mesh make_mesh_by_node(const struct stream* stream, int dimensions) {
    int extents[max_axes];
    choose_extents_by_node(stream, dimensions, extents);
    return make_mesh(stream->ranks, dimensions, extents);
}

struct candidate {
    int dimensions, bucket_bytes;
    double seconds, flush_timeout;
};

static struct candidate evaluate_candidate(const struct stream* stream, struct traffic traffic,
                                           int dimensions, int bucket_bytes) {
    const double timeout_factor = 10;  // flush timeout, as a multiple of the time to send all buckets
    const double min_timeout = 1e-4, max_timeout = 1e-2;
    const struct mesh mesh = make_mesh_by_node(stream, dimensions);
    const struct network network = {stream->tuning.alpha, stream->tuning.beta};
    double used_hops = 0;
    const double seconds = predict_phase_seconds(&mesh, network, traffic, bucket_bytes, &used_hops);
    const double timeout = timeout_factor * used_hops * network.alpha;
    return (struct candidate){dimensions, bucket_bytes, seconds,
                              min_of_two(max_of_two(timeout, min_timeout), max_timeout)};
}

/// Returns the best candidate, or the current settings if no other candidate saves 5 %.
static struct candidate choose_candidate(const struct stream* stream, struct traffic traffic) {
    const double worthwhile = 0.95;
    const struct tuning* tuning = &stream->tuning;
    const struct candidate now =
        evaluate_candidate(stream, traffic, stream->axis_count, stream->bucket_bytes);
    struct candidate best = now;
    for (int d = 1; d <= max_axes; ++d) {
        const struct mesh mesh = make_mesh_by_node(stream, d);
        if (mesh.axes != d) continue;
        const int largest = tuning->is_bucket_fixed
                                ? stream->bucket_bytes
                                : get_default_bucket_bytes(count_hops(&mesh), stream->memory_bytes != 0);
        for (int bytes = largest; bytes >= tuning->min_bucket_bytes; bytes /= 2) {
            if (!fits_memory(stream->memory_bytes, d, bytes)) continue;
            const struct candidate candidate = evaluate_candidate(stream, traffic, d, bytes);
            if (candidate.seconds < best.seconds) best = candidate;
            if (tuning->is_bucket_fixed) break;
        }
    }
    return best.seconds < worthwhile * now.seconds ? best : now;
}

void choose_settings(const struct stream* stream, int64_t sums[wave_value_count]) {
    const double ranks = stream->ranks, items = (double)sums[wave_items];
    if (!stream->tuning.is_enabled || sums[wave_sent] != sums[wave_received]) return;
    if (items == 0) {
        sums[wave_dimensions] = 0;
        return;
    }
    const struct traffic traffic = {items / ranks, (double)sums[wave_bytes] / items,
                                    (double)sums[wave_partners] / ranks};
    const struct candidate next = choose_candidate(stream, traffic);
    sums[wave_dimensions] = next.dimensions;
    sums[wave_bucket_bytes] = next.bucket_bytes;
    sums[wave_flush_timeout] = (int64_t)(1e9 * next.flush_timeout);
}

int apply_settings(struct stream* stream, const int64_t sums[wave_value_count]) {
    const int dimensions = (int)sums[wave_dimensions], bucket_bytes = (int)sums[wave_bucket_bytes];
    stream->traffic = (struct phase_traffic){0};
    if (!stream->tuning.is_enabled) return MPI_SUCCESS;
    memset(stream->tuning.is_destination, 0, (size_t)stream->ranks * sizeof(bool));
    if (dimensions == 0) return MPI_SUCCESS;
    if (!stream->tuning.is_timeout_fixed) stream->flush_timeout = 1e-9 * (double)sums[wave_flush_timeout];
    if (dimensions == stream->axis_count && bucket_bytes == stream->bucket_bytes) return MPI_SUCCESS;
    return change_layout(stream, dimensions, bucket_bytes);
}
