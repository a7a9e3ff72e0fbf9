// SPDX-License-Identifier: BSD-3-Clause
// Cost per item: `rates ITEMS REPEATS [BUCKET...]`. Every rank draws ITEMS numbers of 8 bytes and sends each
// to another rank: by a stream, by MPI_Alltoallv of its own buffers (the best of four sizes), and by single
// messages.
// With BUCKET in bytes: by streams with such buckets, and by MPI_Alltoallv with equal buffers per rank. Rank
// 0 prints JSON.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <topoloom_stream.hpp>
#include <vector>

#include "random_items.hpp"

namespace {

/// Received numbers are summed in all three methods.
uint64_t sum;

void send_by_stream(topoloom::Stream<uint64_t>& stream, long items, Draw draw) {
    for (long i = 0; i < items; ++i) {
        const uint64_t random = draw();
        stream.push(random, choose_other_rank(random));
    }
    stream.wait();
}

/// Returns CPU seconds: on rank 0 for pushes, on other ranks for calls that deliver items.
double time_computation_apart(topoloom::Stream<uint64_t>& stream, long items, Draw draw) {
    double spent = 0;
    if (rank == 0) {
        const double begin = read_cpu_seconds();
        for (long i = 0; i < items; ++i) {
            const uint64_t random = draw();
            stream.push(random, choose_other_rank(random));
        }
        spent = read_cpu_seconds() - begin;
        stream.wait();
        return spent;
    }
    stream.done();
    for (bool ended = false; !ended;) {
        const uint64_t before = sum;
        const double begin = read_cpu_seconds();
        ended = stream.progress();
        if (sum != before) spent += read_cpu_seconds() - begin;
    }
    return spent;
}

/// Buffers with equal capacity per rank; all ranks exchange when a buffer is full.
struct Buffers {
    long room;
    std::vector<uint64_t> sent, received;
    std::vector<int> counts, offsets, counts_in, offsets_in;

    explicit Buffers(long per_rank)
        : room(per_rank),
          sent(room * ranks),
          received(room * ranks),
          counts(ranks),
          offsets(ranks),
          counts_in(ranks),
          offsets_in(ranks) {
        for (int r = 0; r < ranks; ++r) offsets[r] = static_cast<int>(room * r);
    }
    void exchange() {
        MPI_Alltoall(counts.data(), 1, MPI_INT, counts_in.data(), 1, MPI_INT, MPI_COMM_WORLD);
        int total = 0;
        for (int r = 0; r < ranks; ++r) {
            offsets_in[r] = total;
            total += counts_in[r];
        }
        MPI_Alltoallv(sent.data(), counts.data(), offsets.data(), MPI_UINT64_T, received.data(),
                      counts_in.data(), offsets_in.data(), MPI_UINT64_T, MPI_COMM_WORLD);
        for (int i = 0; i < total; ++i) sum += received[i];
        std::fill(counts.begin(), counts.end(), 0);
    }
};

void send_by_alltoallv(Buffers& buffers, long items, Draw draw) {
    int working = 1;
    for (long i = 0; working != 0;) {
        for (; i < items; ++i) {
            const uint64_t random = draw();
            const int to = choose_other_rank(random);
            int& count = buffers.counts[to];
            buffers.sent[buffers.offsets[to] + count++] = random;
            if (count == buffers.room) {
                ++i;
                break;
            }
        }
        buffers.exchange();
        working = i < items;
        MPI_Allreduce(MPI_IN_PLACE, &working, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
}

/// Uses a window of sends, and a receive that is always posted.
void send_by_isend(long items, Draw draw) {
    constexpr int window = 64;
    std::vector<MPI_Request> sends(window, MPI_REQUEST_NULL);
    std::vector<uint64_t> sent(window);
    std::vector<long> expected(ranks);
    Draw again = draw;
    for (long i = 0; i < items; ++i) ++expected[choose_other_rank(again())];
    long coming = 0;
    std::vector<int> ones(ranks, 1);
    MPI_Reduce_scatter(expected.data(), &coming, ones.data(), MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    uint64_t in = 0;
    MPI_Request receive = MPI_REQUEST_NULL;
    const auto start = [&] {
        if (coming > 0) MPI_Irecv(&in, 1, MPI_UINT64_T, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &receive);
    };
    const auto take = [&] {
        for (int done = 1; coming > 0;) {
            MPI_Test(&receive, &done, MPI_STATUS_IGNORE);
            if (done == 0) return;
            sum += in;
            --coming;
            start();
        }
    };
    start();
    for (long i = 0; i < items; ++i) {
        const uint64_t random = draw();
        const int slot = static_cast<int>(i % window);
        for (int free = 0; free == 0;) {
            MPI_Test(&sends[slot], &free, MPI_STATUS_IGNORE);
            if (free == 0) take();
        }
        sent[slot] = random;
        MPI_Isend(&sent[slot], 1, MPI_UINT64_T, choose_other_rank(random), 0, MPI_COMM_WORLD, &sends[slot]);
        if (i % 16 == 0) take();
    }
    while (coming > 0) take();
    MPI_Waitall(window, sends.data(), MPI_STATUSES_IGNORE);
}

/// Draws the same random numbers without sending; its time is subtracted from the others.
void draw_targets(long items, Draw draw) {
    for (long i = 0; i < items; ++i) {
        const uint64_t random = draw();
        sum += random + static_cast<uint64_t>(choose_other_rank(random));
    }
}

template <typename Way>
double measure_nanoseconds(Way way, long items) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = read_cpu_seconds();
    way();
    double spent = read_cpu_seconds() - begin, all = 0;
    MPI_Allreduce(&spent, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return 1e9 * all / ranks / static_cast<double>(items);
}

void measure(topoloom::Stream<uint64_t>& stream, long items, int repeats) {
    const long singles = items / 20;
    std::vector<Buffers> all_buffers;
    for (const long room : {1024, 4096, 16384, 65536}) all_buffers.emplace_back(room);
    for (int i = 0; i < repeats; ++i) {
        const Draw draw{static_cast<uint64_t>(rank + 1) * 7919 + static_cast<uint64_t>(i)};
        const double nothing = measure_nanoseconds([&] { draw_targets(items, draw); }, items);
        const double streamed = measure_nanoseconds([&] { send_by_stream(stream, items, draw); }, items);
        MPI_Barrier(MPI_COMM_WORLD);
        const double own = 1e9 * time_computation_apart(stream, items, draw) / static_cast<double>(items);
        const double delivering = rank == 0 ? 0 : own;
        double delivered = 0;
        MPI_Reduce(&delivering, &delivered, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        double buffered = 1e9;
        for (Buffers& buffers : all_buffers)
            buffered = std::min(buffered,
                                measure_nanoseconds([&] { send_by_alltoallv(buffers, items, draw); }, items));
        const double single = measure_nanoseconds([&] { send_by_isend(singles, draw); }, singles);
        long long bytes = 0, most = 0;
        topoloom_stream_get_memory(stream.c_stream(), &bytes, &most);
        if (rank == 0)
            std::printf(
                "{\"stream\": %.3f, \"pushed\": %.3f, \"delivered\": %.3f, \"buffers\": %.3f, "
                "\"messages\": %.3f, \"bytes\": %lld, "
                "\"sum\": %llu}\n",
                streamed - nothing, own - nothing, delivered, buffered - nothing, single - nothing, most,
                static_cast<unsigned long long>(sum));
    }
}

/// Compares both methods with equal buffers per rank.
void compare(topoloom::Stream<uint64_t>& stream, int bucket, long items, int repeats) {
    Buffers buffers(bucket / static_cast<int>(sizeof(uint64_t)));
    for (int i = 0; i < repeats; ++i) {
        const Draw draw{static_cast<uint64_t>(rank + 1) * 7919 + static_cast<uint64_t>(i)};
        const double nothing = measure_nanoseconds([&] { draw_targets(items, draw); }, items);
        const double streamed = measure_nanoseconds([&] { send_by_stream(stream, items, draw); }, items);
        const double buffered = measure_nanoseconds([&] { send_by_alltoallv(buffers, items, draw); }, items);
        if (rank == 0)
            std::printf("{\"bucket\": %d, \"stream\": %.3f, \"buffers\": %.3f, \"sum\": %llu}\n", bucket,
                        streamed - nothing, buffered - nothing, static_cast<unsigned long long>(sum));
    }
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const long items = argc > 1 ? std::atol(argv[1]) : 4'000'000;
    const int repeats = argc > 2 ? std::atoi(argv[2]) : 5;
    const auto take = [](const uint64_t& item) { sum += item; };
    if (argc <= 3) {
        topoloom::Stream<uint64_t> stream(MPI_COMM_WORLD, take);
        measure(stream, items, repeats);
    }
    for (int i = 3; i < argc; ++i) {
        topoloom_stream_options options = {};
        options.bucket_bytes = std::atoi(argv[i]);
        topoloom::Stream<uint64_t> stream(MPI_COMM_WORLD, take, options);
        compare(stream, options.bucket_bytes, items, repeats);
    }
    MPI_Finalize();
    return 0;
}
