// SPDX-License-Identifier: BSD-3-Clause
// Objects send to random objects and move at random: every message arrives exactly once, and in an ordered array, each
// pair's messages in the order sent.
// `traffic MIGRATIONS [ordered|any] [OBJECTS] [MEMORY]` prints the counts.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <topoloom_objects.hpp>
#include <vector>

namespace {

/// Number of messages between two objects, and the sum of their sequence numbers.
struct Count {
    std::int64_t messages = 0, numbers = 0;
    void add(std::int64_t number) {
        ++messages;
        numbers += number;
    }
};

struct Walker : topoloom::Object<Walker> {
    Walker() = default;
    Walker(std::int64_t objects, std::uint64_t seed, bool checks)
        : to(static_cast<std::size_t>(objects)), from(to.size()), state(seed), checks_order(checks) {}

    /// Passes a token on `steps` times, sometimes after a move to another rank.
    void take(std::int64_t sender, std::int64_t number, std::int32_t steps) {
        if (sender >= 0) {
            Count& had = from[static_cast<std::size_t>(sender)];
            if (checks_order && number != had.messages) ++wrong;
            had.add(number);
        }
        if (steps == 0) return;
        const std::uint64_t next = draw() % to.size();
        Count& sent = to[next];
        const std::int64_t of_this = sent.messages;
        sent.add(of_this);
        const int priority = static_cast<int>(draw() % 3) - 1;
        array()[next].send_with_priority<&Walker::take>(priority, index().x, of_this, steps - 1);
        if (draw() % 2 == 0) {
            ++moves;
            const auto ranks = static_cast<std::uint64_t>(scheduler().ranks());
            const auto here = static_cast<std::uint64_t>(scheduler().rank());
            migrate_to(static_cast<int>(ranks == 1 ? 0 : (here + 1 + draw() % (ranks - 1)) % ranks));
        }
    }
    std::uint64_t draw() {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return state >> 33;
    }
    void serialize(auto& archive) { archive(to, from, state, moves, wrong, checks_order); }
    using methods = topoloom::Methods<&Walker::take>;

    std::vector<Count> to, from;
    std::uint64_t state = 1;
    std::int64_t moves = 0, wrong = 0;
    bool checks_order = false;
};

/// Sums the counts over all ranks.
std::vector<std::int64_t> total(std::vector<std::int64_t> own) {
    MPI_Allreduce(MPI_IN_PLACE, own.data(), static_cast<int>(own.size()), MPI_INT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    return own;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    bool is_right = false;
    {
        const long migrations = argc > 1 ? std::atol(argv[1]) : 1000;
        const bool is_ordered = argc <= 2 || std::strcmp(argv[2], "ordered") == 0;
        const std::int64_t objects = argc > 3 ? std::atol(argv[3]) : 24;
        const std::int64_t tokens = 4;
        topoloom::SchedulerOptions bounds;
        if (argc > 4) bounds.memory_bytes = std::atol(argv[4]);
        topoloom::Scheduler scheduler(MPI_COMM_WORLD, bounds);
        topoloom::ObjectsOptions options;
        options.is_ordered = is_ordered;
        topoloom::Objects<Walker> walkers(
            scheduler, {objects},
            [&](topoloom::Index at) {
                return Walker(objects, static_cast<std::uint64_t>(at.x) * 2654435761u + 1, is_ordered);
            },
            options);
        const auto steps = static_cast<std::int32_t>(2 * migrations / (objects * tokens) + 1);
        const double begin = MPI_Wtime();
        if (scheduler.rank() == 0)
            for (std::int64_t i = 0; i < objects * tokens; ++i)
                walkers[i % objects].send<&Walker::take>(-1, 0, steps);
        scheduler.run();
        const double seconds = MPI_Wtime() - begin;

        const auto size = static_cast<std::size_t>(objects);
        std::vector<std::int64_t> counts(3 * size * size);  // sent minus received
        std::vector<std::int64_t> sums(4);                  // counts: moves, wrong values, messages, objects
        walkers.for_each_local([&](Walker& one) {
            const auto at = static_cast<std::size_t>(one.index().x);
            for (std::size_t other = 0; other < size; ++other) {
                counts[at * size + other] += one.to[other].messages;
                counts[other * size + at] -= one.from[other].messages;
                counts[size * size + at * size + other] += one.to[other].numbers;
                counts[size * size + other * size + at] -= one.from[other].numbers;
                sums[2] += one.from[other].messages;
            }
            sums[0] += one.moves;
            sums[1] += one.wrong;
            ++sums[3];
        });
        counts = total(counts);
        sums = total(sums);
        is_right = std::ranges::count(counts, 0) == static_cast<std::ptrdiff_t>(counts.size()) &&
                   sums[1] == 0 && sums[2] == objects * tokens * steps && sums[3] == objects;
        if (scheduler.rank() == 0)
            std::printf("%s: %lld messages, %lld migrations, %.2f s\n", is_right ? "right" : "WRONG",
                        static_cast<long long>(sums[2]), static_cast<long long>(sums[0]), seconds);
    }
    MPI_Finalize();
    return is_right ? 0 : 1;
}
