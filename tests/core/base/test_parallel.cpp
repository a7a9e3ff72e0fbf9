// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <stdexcept>

#include <doctest.h>

#include "topoloom/base/parallel.hpp"

using namespace topoloom;

TEST_CASE("every chunk is processed exactly once, by a worker with an index below the number of threads" *
          doctest::test_suite("threads")) {
    for (const int threads : {1, 2, 5}) {
        for (const std::size_t chunks : {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{100}}) {
            std::vector<std::atomic<int>> runs(chunks);
            std::atomic<bool> worker_in_range{true};
            parallel_for(chunks, threads, [&](std::size_t chunk, int worker) {
                ++runs[chunk];
                if (worker < 0 || worker >= threads) worker_in_range = false;
            });
            CHECK(worker_in_range);
            for (const auto& count : runs) CHECK(count == 1);
        }
    }
}

TEST_CASE("chunks cover each item once, in order, and only the last chunk may be short") {
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{1}, std::size_t{9}, std::size_t{10}, std::size_t{11}}) {
        const Chunks chunks(count, 5);
        std::size_t next = 0;
        for (std::size_t i = 0; i < chunks.size(); ++i) {
            CHECK(chunks[i].begin == next);
            CHECK(chunks[i].end > next);
            CHECK(chunks[i].end - next <= 5);
            next = chunks[i].end;
        }
        CHECK(next == count);
    }
}

TEST_CASE("a parallel sum of doubles is the same to the last bit for 1, 2 and 4 threads" *
          doctest::test_suite("threads")) {
    const Chunks chunks(100'000, 999);
    const auto part = [](Chunk chunk) {
        double sum = 0;
        for (std::size_t i = chunk.begin; i < chunk.end; ++i) sum += 1.0 / static_cast<double>(i + 1);
        return sum;
    };
    const double one = parallel_sum<double>(chunks, 1, part);
    CHECK(one == parallel_sum<double>(chunks, 2, part));
    CHECK(one == parallel_sum<double>(chunks, 4, part));
    CHECK(one == doctest::Approx(12.090146129863428));
}

TEST_CASE("an exception of any worker reaches the caller and cancels the remaining work") {
    for (const int threads : {1, 2, 4}) {
        std::atomic<int> runs{0};
        CHECK_THROWS_WITH_AS(parallel_for(1'000'000, threads,
                                          [&](std::size_t chunk, int) {
                                              ++runs;
                                              if (chunk == 5) throw std::runtime_error("chunk five");
                                          }),
                             "chunk five", std::runtime_error);
        CHECK(runs < 1'000'000);
    }
}

TEST_CASE("the default number of threads is at least one" * doctest::test_suite("threads")) {
    CHECK(thread_count(0) >= 1);
    CHECK(thread_count(3) == 3);
}
