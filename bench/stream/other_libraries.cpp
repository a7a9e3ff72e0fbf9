// SPDX-License-Identifier: BSD-3-Clause
// Cost of a histogram's update and of an index-gather's read: `other_libraries ITEMS REPEATS`. Every rank
// draws ITEMS numbers of 8 bytes and sends each to another rank, which sums or answers it. The numbers are
// sent by streams, and by bale's conveyors (CONVEYORS) or BriefKAsten's message queues (BRIEFKASTEN). Rank 0
// prints JSON: nanoseconds of CPU time per item and rank, without the time to draw the items.
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <topoloom_stream.hpp>
#ifdef CONVEYORS
extern "C" {
#include <convey.h>
int xmpi_init(int argc, char** argv);
}
#endif
#ifdef BRIEFKASTEN
#include <briefkasten/queue_builder.hpp>
#endif

#include "gather.hpp"
#include "random_items.hpp"

namespace {

uint64_t sum;
long taken;

void take(uint64_t item) {
    sum += item;
    ++taken;
}

void draw_targets(long items, Draw draw) {
    for (long i = 0; i < items; ++i) {
        const uint64_t random = draw();
        take(random + static_cast<uint64_t>(choose_other_rank(random)));
    }
}

void send_by_stream(topoloom::Stream<uint64_t>& stream, long items, Draw draw) {
    for (long i = 0; i < items; ++i) {
        const uint64_t random = draw();
        stream.push(random, choose_other_rank(random));
    }
    stream.wait();
}

#ifdef CONVEYORS
void send_by_conveyor(convey_t* conveyor, long items, Draw draw) {
    convey_begin(conveyor, sizeof(uint64_t), alignof(uint64_t));
    long i = 0;
    uint64_t random = draw(), come = 0;
    while (convey_advance(conveyor, i == items)) {
        while (i < items && convey_push(conveyor, &random, choose_other_rank(random)) == convey_OK) {
            random = draw();
            ++i;
        }
        while (convey_pull(conveyor, &come, nullptr) == convey_OK) take(come);
    }
    convey_reset(conveyor);
}
#endif

#ifdef BRIEFKASTEN
void send_by_queue(auto& queue, long items, Draw draw) {
    const auto on_message = [](auto envelope) {
        for (const uint64_t item : envelope.message) take(item);
    };
    for (long i = 0; i < items; ++i) {
        const uint64_t random = draw();
        queue.post_message_blocking(random, choose_other_rank(random), on_message);
    }
    static_cast<void>(queue.terminate(on_message));
}
#endif

/// All items must have arrived.
template <typename Way>
double measure_nanoseconds(Way way, long items, long& taken) {
    MPI_Barrier(MPI_COMM_WORLD);
    taken = 0;
    const double begin = read_cpu_seconds();
    way();
    double spent = read_cpu_seconds() - begin, all = 0;
    long come = 0;
    MPI_Allreduce(&spent, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&taken, &come, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (come != items * ranks) MPI_Abort(MPI_COMM_WORLD, 1);
    return 1e9 * all / ranks / static_cast<double>(items);
}

void measure_gather(long items, int repeats) {
    Gather gather(items);
    topoloom::Stream<uint64_t> replies(MPI_COMM_WORLD, [&](const uint64_t& reply) { gather.take(reply); });
    topoloom::Stream<uint64_t> requests(MPI_COMM_WORLD, [&](const uint64_t& request) {
        replies.push(gather.make_reply(request), Gather::decode_asker(request));
    });
#ifdef CONVEYORS
    convey_t* asking = convey_new(SIZE_MAX, 0, nullptr, convey_opt_SCATTER);
    convey_t* answering = convey_new(SIZE_MAX, 0, nullptr, 0);
#endif
    for (int i = 0; i < repeats; ++i) {
        const Draw draw{static_cast<uint64_t>(rank + 1) * 7919 + static_cast<uint64_t>(i)};
        const double nothing = measure_nanoseconds([&] { gather.draw_targets(draw); }, items, gather.taken);
        // Every position must have the requested value.
        const auto time = [&](const char* name, auto way) {
            const double spent = measure_nanoseconds(way, items, gather.taken);
            if (!gather.is_right(draw)) MPI_Abort(MPI_COMM_WORLD, 1);
            if (rank == 0) std::printf(", \"%s\": %.3f", name, spent - nothing);
        };
        if (rank == 0) std::printf("{\"program\": \"index-gather\"");
        time("stream", [&] { gather.request_by_streams(requests, replies, draw); });
#ifdef CONVEYORS
        time("Conveyors", [&] { gather.request_by_conveyors(asking, answering, draw); });
#endif
#ifdef BRIEFKASTEN
        MPI_Comm own = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &own);
        {
            auto questions = briefkasten::BufferedMessageQueueBuilder<uint64_t>().build();
            auto answers = briefkasten::BufferedMessageQueueBuilder<uint64_t>(own).build();
            questions.synchronous_mode();
            answers.synchronous_mode();
            time("BriefKAsten", [&] { gather.request_by_queues(questions, answers, draw); });
        }
        MPI_Comm_free(&own);
#endif
        if (rank == 0) std::puts("}");
    }
#ifdef CONVEYORS
    convey_free(asking);
    convey_free(answering);
#endif
}

void measure(long items, int repeats) {
    topoloom::Stream<uint64_t> stream(MPI_COMM_WORLD, [](const uint64_t& item) { take(item); });
#ifdef CONVEYORS
    convey_t* conveyor = convey_new(SIZE_MAX, 0, nullptr, convey_opt_SCATTER);
#endif
    for (int i = 0; i < repeats; ++i) {
        const Draw draw{static_cast<uint64_t>(rank + 1) * 7919 + static_cast<uint64_t>(i)};
        const double nothing = measure_nanoseconds([&] { draw_targets(items, draw); }, items, taken);
        const double streamed =
            measure_nanoseconds([&] { send_by_stream(stream, items, draw); }, items, taken);
        if (rank == 0) std::printf("{\"program\": \"histogram\", \"stream\": %.3f", streamed - nothing);
#ifdef CONVEYORS
        const double conveyed =
            measure_nanoseconds([&] { send_by_conveyor(conveyor, items, draw); }, items, taken);
        if (rank == 0) std::printf(", \"Conveyors\": %.3f", conveyed - nothing);
#endif
#ifdef BRIEFKASTEN
        // The queue exists only here, because its pending receives would slow the other methods.
        auto queue = briefkasten::BufferedMessageQueueBuilder<uint64_t>().build();
        queue.synchronous_mode();
        const double queued = measure_nanoseconds([&] { send_by_queue(queue, items, draw); }, items, taken);
        if (rank == 0) std::printf(", \"BriefKAsten\": %.3f", queued - nothing);
#endif
        if (rank == 0) std::printf(", \"sum\": %llu}\n", static_cast<unsigned long long>(sum));
    }
#ifdef CONVEYORS
    convey_free(conveyor);
#endif
}

}  // namespace

int main(int argc, char** argv) {
#ifdef CONVEYORS
    xmpi_init(argc, argv);
#else
    MPI_Init(&argc, &argv);
#endif
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const long items = argc > 1 ? std::atol(argv[1]) : 1'000'000;
    const int repeats = argc > 2 ? std::atoi(argv[2]) : 15;
    measure(items, repeats);
    measure_gather(items, repeats);
    MPI_Finalize();
    return 0;
}
