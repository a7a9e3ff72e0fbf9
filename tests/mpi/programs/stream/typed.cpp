// SPDX-License-Identifier: BSD-3-Clause
// topoloom::Stream: handlers that capture, push and throw, items that are pulled, streams that move.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <topoloom_stream.hpp>
#include <vector>

namespace {

struct Edge {
    int from, to;
    double weight;
};

[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "%s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
}

long sum_over_ranks(long own) {
    long sum = 0;
    MPI_Allreduce(&own, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

void handle_and_throw(int rank, int ranks) {
    long sum = 0, thrown = 0, caught = 0;
    topoloom::Stream<Edge>* stream = nullptr;
    topoloom::Stream<Edge> made(MPI_COMM_WORLD, [&, calls = 0](const Edge& edge) mutable {
        if (edge.to != rank) fail("an item came to the wrong rank");
        sum += edge.from;
        if (edge.weight > 1)
            stream->push({edge.from, (rank + 1) % ranks, edge.weight - 1}, (rank + 1) % ranks);
        if (++calls % 97 == 0) {
            ++thrown;
            throw std::runtime_error("a handler's own");
        }
    });
    topoloom::Stream<Edge> moved(std::move(made));
    stream = &moved;
    const auto again = [&](auto&& call) {
        for (;;) {
            try {
                return call();
            } catch (const std::runtime_error&) {
                ++caught;
            }
        }
    };
    constexpr int items = 20000;
    for (int i = 0; i < items; ++i) again([&] { moved.push({i, i % ranks, 2}, i % ranks); });
    again([&] { moved.wait(); });
    if (thrown != caught || (sum > 0 && thrown == 0)) fail("an exception was lost");
    const long right = 2L * ranks * (static_cast<long>(items) * (items - 1) / 2);
    if (sum_over_ranks(sum) != right) fail("items were lost or came twice");
}

void pull(int rank, int ranks) {
    topoloom::Stream<long> stream(MPI_COMM_WORLD);
    long sum = 0, count = 0;
    const auto pull_all = [&] {
        while (const auto item = stream.pull()) sum += *item, ++count;
    };
    for (long i = 0; i < 5000; ++i)
        while (!stream.push(i, static_cast<int>(i + rank) % ranks)) pull_all();
    stream.done();
    do pull_all();
    while (!stream.progress());
    if (sum_over_ranks(count) != 5000L * ranks) fail("items were lost or came twice");
    if (sum_over_ranks(sum) != ranks * 4999L * 2500) fail("an item was damaged");
}

void return_errors(int ranks) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    topoloom::Stream<int> stream(MPI_COMM_WORLD, [](const int&) {});
    try {
        stream.push(1, ranks);
        fail("a rank that does not exist was pushed to");
    } catch (const topoloom::StreamError& error) {
        int found = MPI_SUCCESS;
        MPI_Error_class(error.code(), &found);
        if (found != MPI_ERR_RANK) fail("the error has another class");
    }
    stream.wait();
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    handle_and_throw(rank, ranks);
    pull(rank, ranks);
    return_errors(ranks);
    if (rank == 0) std::printf("typed streams are right\n");
    MPI_Finalize();
    return 0;
}
