// SPDX-License-Identifier: BSD-3-Clause
// The measuring rank decides when it has enough samples, and announces the number of exchanges that follow.
#include "pairs.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "common_start.h"

/// Returns memory of at least `bytes` bytes. Memory is reused, because first accesses to new memory are slow.
static void* reserve_memory(void** memory, size_t* size, size_t bytes) {
    if (*size < bytes) {
        free(*memory);
        *memory = calloc(1, bytes);
        *size = bytes;
        if (*memory == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return *memory;
}

static struct exchange make_exchange(struct probe* probe, const struct measurement* measurement, int size,
                                     int peer) {
    const int bytes = measurement->sizes[size], window = measurement->window > 0 ? measurement->window : 1;
    struct exchange_buffers* buffers = &probe->buffers;
    struct exchange exchange = {.peer = peer, .bytes = bytes, .window = window};
    exchange.out = reserve_memory(&buffers->out, &buffers->out_size, (size_t)bytes + 1);
    exchange.in =
        reserve_memory(&buffers->in, &buffers->in_size, (size_t)get_stride(bytes) * (size_t)window + 1);
    exchange.requests = reserve_memory(&buffers->requests, &buffers->requests_size,
                                       (2 * (size_t)window + 1) * sizeof *exchange.requests);
    return exchange;
}

/// Sends the peer the number of exchanges that follow. Waits for its reply, so that the first exchange is not delayed.
static void announce_exchanges(const struct exchange* exchange, int exchange_count) {
    MPI_Send(&exchange_count, 1, MPI_INT, exchange->peer, tag_go, MPI_COMM_WORLD);
    if (exchange_count > 0)
        MPI_Recv(NULL, 0, MPI_BYTE, exchange->peer, tag_go, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void take_samples(struct probe* probe, const struct exchange_kind* kind,
                         const struct exchange* exchange) {
    struct results* results = &probe->results;
    const int first = results->samples.count;
    int is_first = 1;  // the first exchange sets up the connection, and is not recorded
    for (int exchange_count = get_first_sample_count(&probe->sampling); exchange_count > 0; is_first = 0) {
        announce_exchanges(exchange, exchange_count + is_first);
        for (int i = -is_first; i < exchange_count; ++i) {
            const double seconds = kind->measure(exchange);
            if (i >= 0 && seconds > 0)
                add_result(results, seconds);  // a non-positive time means that the clock has jumped
        }
        const int count = count_last_samples(results), left = probe->sampling.max_count - count;
        exchange_count =
            count == 0 || has_enough_samples(&probe->sampling, &results->samples, first) ? 0 : 1 + count / 2;
        if (exchange_count > left) exchange_count = left;
    }
    announce_exchanges(exchange, 0);
}

static void answer_exchanges(const struct exchange_kind* kind, const struct exchange* exchange) {
    for (int more;;) {
        MPI_Recv(&more, 1, MPI_INT, exchange->peer, tag_go, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (more == 0) return;
        MPI_Send(NULL, 0, MPI_BYTE, exchange->peer, tag_go, MPI_COMM_WORLD);
        for (int i = 0; i < more; ++i) kind->answer(exchange);
    }
}

static void begin_pair(struct probe* probe, int first, int second, int bytes) {
    begin_record(
        &probe->results,
        (struct exchange_record){.order = probe->commands, .first = first, .second = second, .bytes = bytes});
}

void run_pair(struct probe* probe, const struct measurement* measurement, int first, int second) {
    const int is_measuring = probe->rank == first;
    for (int size = 0; size < measurement->size_count; ++size) {
        const struct exchange exchange =
            make_exchange(probe, measurement, size, is_measuring ? second : first);
        if (is_measuring) {
            begin_pair(probe, first, second, exchange.bytes);
            take_samples(probe, measurement->kind, &exchange);
        } else {
            answer_exchanges(measurement->kind, &exchange);
        }
    }
}

void run_pair_simultaneously(struct probe* probe, const struct measurement* measurement, int first,
                             int second, int repeats, MPI_Comm comm) {
    const int is_measuring = probe->rank == first;
    struct common_start start = make_common_start(comm);
    start.clock = probe->clock;
    for (int size = 0; size < measurement->size_count; ++size) {
        const struct exchange exchange =
            make_exchange(probe, measurement, size, is_measuring ? second : first);
        if (is_measuring) begin_pair(probe, first, second, exchange.bytes);
        for (int i = -1; i < repeats;) {
            int is_late = 0;
            double seconds = 0;
            const double began = wait_for_start(&start, &is_late);
            if (is_measuring)
                seconds = measurement->kind->measure(&exchange);
            else
                measurement->kind->answer(&exchange);
            if (measure_from_start(&start, began, is_late) < 0) continue;
            if (is_measuring && i >= 0 && seconds > 0) add_result(&probe->results, seconds);
            ++i;
        }
    }
}

void run_pair_at(struct probe* probe, const struct measurement* measurement, int first, int second,
                 double common, double tolerance) {
    const int is_measuring = probe->rank == first;
    const struct exchange exchange = make_exchange(probe, measurement, 0, is_measuring ? second : first);
    const struct common_start start = {.clock = probe->clock};
    wait_until_common_time(&start, common);
    if (!is_measuring) {
        measurement->kind->answer(&exchange);
        return;
    }
    const double seconds = measurement->kind->measure(&exchange);
    const double began = to_common_time(&probe->clock, MPI_Wtime()) -
                         seconds;  // start of the exchange: by then, the peer was also ready
    begin_pair(probe, first, second, exchange.bytes);
    add_result(&probe->results, seconds > 0 && began <= common + tolerance ? seconds : NAN);
}
