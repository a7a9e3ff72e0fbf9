// SPDX-License-Identifier: BSD-3-Clause
// The rank that asks decides when there is enough, and says how many exchanges are next.
#include "pairs.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "common_start.h"

/// At least this number of bytes; what was there is kept for the next exchange, as fresh memory takes its time.
static void* grow(void** memory, size_t* room, size_t bytes) {
    if (*room < bytes) {
        free(*memory);
        *memory = calloc(1, bytes);
        *room = bytes;
        if (*memory == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return *memory;
}

static struct exchange make_exchange(struct probe* probe, const struct measure* measure, int size, int peer) {
    const int bytes = measure->sizes[size], window = measure->window > 0 ? measure->window : 1;
    struct buffers* buffers = &probe->buffers;
    struct exchange made = {.peer = peer, .bytes = bytes, .window = window};
    made.out = grow(&buffers->out, &buffers->out_room, (size_t)bytes + 1);
    made.in = grow(&buffers->in, &buffers->in_room, (size_t)stride_of(bytes) * (size_t)window + 1);
    made.requests =
        grow(&buffers->requests, &buffers->requests_room, (2 * (size_t)window + 1) * sizeof *made.requests);
    return made;
}

/// Lets the other side know how many exchanges are next, and waits until it knows: the first takes no longer for it.
static void announce(const struct exchange* exchange, int more) {
    MPI_Send(&more, 1, MPI_INT, exchange->peer, tag_go, MPI_COMM_WORLD);
    if (more > 0) MPI_Recv(NULL, 0, MPI_BYTE, exchange->peer, tag_go, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void ask(struct probe* probe, const struct kind* kind, const struct exchange* exchange) {
    struct answers* answers = &probe->answers;
    const int first = answers->samples.count;
    int is_first = 1;  // makes connections, and is left out
    for (int more = first_samples(&probe->sampling); more > 0; is_first = 0) {
        announce(exchange, more + is_first);
        for (int i = -is_first; i < more; ++i) {
            const double seconds = kind->ask(exchange);
            if (i >= 0 && seconds > 0) keep_sample(answers, seconds);  // else the clock has jumped
        }
        const int count = samples_of_last(answers), left = probe->sampling.most - count;
        more = count == 0 || enough(&probe->sampling, &answers->samples, first) ? 0 : 1 + count / 2;
        if (more > left) more = left;
    }
    announce(exchange, 0);
}

static void answer(const struct kind* kind, const struct exchange* exchange) {
    for (int more;;) {
        MPI_Recv(&more, 1, MPI_INT, exchange->peer, tag_go, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (more == 0) return;
        MPI_Send(NULL, 0, MPI_BYTE, exchange->peer, tag_go, MPI_COMM_WORLD);
        for (int i = 0; i < more; ++i) kind->answer(exchange);
    }
}

void run_pair(struct probe* probe, const struct measure* measure, int first, int second) {
    const int asks = probe->rank == first;
    for (int size = 0; size < measure->size_count; ++size) {
        const struct exchange exchange = make_exchange(probe, measure, size, asks ? second : first);
        if (asks) {
            begin_record(
                &probe->answers,
                (struct record){
                    .order = probe->orders, .first = first, .second = second, .bytes = exchange.bytes});
            ask(probe, measure->kind, &exchange);
        } else {
            answer(measure->kind, &exchange);
        }
    }
}

void run_pair_with_others(struct probe* probe, const struct measure* measure, int first, int second,
                          int repeats, MPI_Comm comm) {
    const int asks = probe->rank == first;
    struct common_start start = make_common_start(comm);
    start.clock = probe->clock;
    for (int size = 0; size < measure->size_count; ++size) {
        const struct exchange exchange = make_exchange(probe, measure, size, asks ? second : first);
        if (asks)
            begin_record(
                &probe->answers,
                (struct record){
                    .order = probe->orders, .first = first, .second = second, .bytes = exchange.bytes});
        for (int i = -1; i < repeats;) {
            int came_late = 0;
            double seconds = 0;
            const double began = wait_for_start(&start, &came_late);
            if (asks)
                seconds = measure->kind->ask(&exchange);
            else
                measure->kind->answer(&exchange);
            if (measure_from_start(&start, began, came_late) < 0) continue;
            if (asks && i >= 0 && seconds > 0) keep_sample(&probe->answers, seconds);
            ++i;
        }
    }
}

void run_pair_at(struct probe* probe, const struct measure* measure, int first, int second, double common,
                 double tolerance) {
    const int asks = probe->rank == first;
    const struct exchange exchange = make_exchange(probe, measure, 0, asks ? second : first);
    const struct common_start start = {.clock = probe->clock};
    wait_until_common_time(&start, common);
    if (!asks) {
        measure->kind->answer(&exchange);
        return;
    }
    const double seconds = measure->kind->ask(&exchange);
    const double began =
        to_common_time(&probe->clock, MPI_Wtime()) - seconds;  // after the other side was there, too
    begin_record(
        &probe->answers,
        (struct record){.order = probe->orders, .first = first, .second = second, .bytes = exchange.bytes});
    keep_sample(&probe->answers, seconds > 0 && began <= common + tolerance ? seconds : NAN);
}
