// SPDX-License-Identifier: BSD-3-Clause
// topoloom::Stream: handlers that capture, push and throw; pulled items; moved streams; streams
// destroyed in the middle of a phase.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
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

/// Errors are fatal: the caller gets the handler's exception, and no item reaches the next stream.
void abandon(int rank, int ranks) {
    const int next = (rank + 1) % ranks;
    bool is_caught = false;
    try {
        topoloom::Stream<Edge> stream(MPI_COMM_WORLD,
                                      [](const Edge&) { throw std::runtime_error("a bad item"); });
        for (int i = 0; i < 20000; ++i) stream.push({i, next, 1}, next);
        stream.wait();
    } catch (const std::runtime_error& error) {
        is_caught = std::string(error.what()) == "a bad item";
    }
    if (!is_caught) fail("the exception of a handler was lost");
    long count = 0;
    topoloom::Stream<long> stream(MPI_COMM_WORLD, [&](const long& item) { count += item; });
    for (int i = 0; i < 20000; ++i) stream.push(1, next);
    stream.wait();
    if (count != 20000) fail("an abandoned stream disturbed the next one");
}

void return_errors(int ranks) {
    topoloom::Stream<int> stream(MPI_COMM_WORLD, [](const int&) {});
    try {
        stream.push(1, ranks);
        fail("a rank that does not exist was pushed to");
    } catch (const topoloom::StreamError& error) {
        int found = MPI_SUCCESS;
        MPI_Error_class(error.code(), &found);
        if (found != MPI_ERR_RANK) fail("the error has another class");
        if (std::string(error.what()).find(" but ranks are 0 to ") == std::string::npos)
            fail("the error does not say why");
    }
    stream.wait();
}

/// Destroys a stream in the middle of a phase: its error is reported, and no state remains.
void leave_early() {
    {
        topoloom::Stream<int>(MPI_COMM_WORLD, [](const int&) { fail("an item came later"); }).push(1, 0);
    }
    topoloom::Stream<int> stream(MPI_COMM_WORLD, [](const int&) {});
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
    abandon(rank, ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    return_errors(ranks);
    leave_early();
    const topoloom::Stream<int> freed_after_mpi(MPI_COMM_WORLD, [](const int&) {});
    if (rank == 0) std::printf("typed streams are right\n");
    MPI_Finalize();
    return 0;
}
