// SPDX-License-Identifier: BSD-3-Clause
// Sends much more than the memory limit: `flood main|methods|circle MEMORY [ROUNDS]` prints the
// maximum bytes buffered on a rank.
//
// main: the main programs of all ranks send to all objects while rank 0 sleeps.
// methods: methods send through a chain of ranks to a sleeping rank.
// circle: methods of all ranks exceed the limit by messages to each other before any method returns.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <thread>
#include <topoloom_objects.hpp>
#include <vector>

namespace {

using Values = std::vector<std::uint64_t>;
constexpr std::size_t length = 64;

struct Sink : topoloom::Object<Sink> {
    Sink() = default;
    void take(std::span<const std::uint64_t> values) {
        ++count;
        for (const std::uint64_t value : values) sum += value;
    }
    /// Sends all messages in one method: to all other objects in turn, or to object 1, which
    /// forwards each to object 0.
    void pour(std::int64_t rounds, bool in_circle) {
        const auto size = static_cast<std::int64_t>(array().size());
        for (std::int64_t i = 0; i < rounds; ++i) {
            if (in_circle)
                array()[(index().x + 1 + i % (size - 1)) % size].send<&Sink::take>(Values(length, 1));
            else
                array()[1].send<&Sink::pass>(Values(length, 1));
        }
    }
    void pass(std::span<const std::uint64_t> values) {
        array()[0].send<&Sink::take>(Values(values.begin(), values.end()));
    }
    void serialize(auto& archive) { archive(count, sum); }
    using methods = topoloom::Methods<&Sink::take, &Sink::pour, &Sink::pass>;
    std::int64_t count = 0;
    std::uint64_t sum = 0;
};

std::int64_t reduce_over_ranks(std::int64_t own, MPI_Op how) {
    MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_INT64_T, how, MPI_COMM_WORLD);
    return own;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    bool is_right = argc > 2;
    if (is_right) {
        const bool from_main = std::strcmp(argv[1], "main") == 0;
        const bool in_circle = std::strcmp(argv[1], "circle") == 0;
        topoloom::SchedulerOptions options;
        options.memory_bytes = std::atol(argv[2]);
        const std::int64_t rounds = argc > 3 ? std::atol(argv[3]) : 4000;
        topoloom::Scheduler scheduler(MPI_COMM_WORLD, options);
        const int rank = scheduler.rank(), ranks = scheduler.ranks();
        topoloom::Objects<Sink> sinks(scheduler, {ranks}, [](topoloom::Index) { return Sink(); });
        if (rank == 0 && !in_circle) std::this_thread::sleep_for(std::chrono::milliseconds(300));
        std::int64_t expected = 0;
        if (from_main) {
            for (std::int64_t i = 0; i < rounds * ranks; ++i)
                if (i % ranks != rank) sinks[i % ranks].send<&Sink::take>(Values(length, 1));
            expected = rounds * ranks * (ranks - 1);
        } else if (in_circle) {
            sinks[rank].send<&Sink::pour>(rounds, true);
            expected = rounds * ranks;
        } else if (rank == ranks - 1) {
            sinks[rank].send<&Sink::pour>(rounds, false);
            expected = rounds;
        }
        scheduler.run();
        std::int64_t count = 0, sum = 0;
        sinks.for_each_local([&](const Sink& sink) {
            count += sink.count;
            sum += static_cast<std::int64_t>(sink.sum);
        });
        count = reduce_over_ranks(count, MPI_SUM);
        sum = reduce_over_ranks(sum, MPI_SUM);
        if (!from_main && !in_circle) expected = reduce_over_ranks(expected, MPI_SUM);
        is_right = count == expected && sum == expected * static_cast<std::int64_t>(length);
        const std::int64_t held = reduce_over_ranks(scheduler.peak_message_bytes(), MPI_MAX);
        if (rank == 0)
            std::printf("%s: %lld messages, %lld bytes held\n", is_right ? "right" : "WRONG",
                        static_cast<long long>(count), static_cast<long long>(held));
    }
    MPI_Finalize();
    return is_right ? 0 : 1;
}
