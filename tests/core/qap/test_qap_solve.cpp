// SPDX-License-Identifier: BSD-3-Clause
// QAP search and GRASP: optimal in cases that can be enumerated, independent of the number of threads, and
// never worse than the start.
#include <doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "topoloom/base/error.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/place/dense/grasp.hpp"
#include "topoloom/qap/qap_pool.hpp"
#include "topoloom/qap/qap_solve.hpp"

using namespace topoloom;

namespace {

qap::Qap random_qap(std::size_t n, std::uint64_t seed, bool symmetric) {
    Rng rng(seed);
    const auto matrix = [&] {
        std::vector<std::int64_t> m(n * n);
        for (auto& v : m) v = rng.below(20);
        for (std::size_t i = 0; symmetric && i < n; ++i) {
            for (std::size_t j = 0; j < i; ++j) m[i * n + j] = m[j * n + i];
        }
        return m;
    };
    auto a = matrix();
    return {n, std::move(a), matrix()};
}

std::int64_t min_value_of_all(const qap::Qap& qap) {
    qap::Permutation p(qap.order());
    std::iota(p.begin(), p.end(), 0U);
    std::int64_t least = qap.value(p);
    while (std::next_permutation(p.begin(), p.end())) least = std::min(least, qap.value(p));
    return least;
}

/// The problem of Nugent, Vollmann, Ruml 1968: twelve facilities on a grid of 3 x 4. The optimum is 578.
qap::Qap nugent12() {
    const std::array<std::array<std::int64_t, 12>, 12> flow{{{0},
                                                             {5},
                                                             {2, 3},
                                                             {4, 0, 0},
                                                             {1, 2, 0, 5},
                                                             {0, 2, 0, 2, 10},
                                                             {0, 2, 0, 2, 0, 5},
                                                             {6, 0, 5, 10, 0, 1, 10},
                                                             {2, 4, 5, 0, 0, 1, 5, 0},
                                                             {1, 5, 2, 0, 5, 5, 2, 0, 0},
                                                             {1, 0, 2, 5, 1, 4, 3, 5, 10, 5},
                                                             {1, 0, 2, 5, 1, 0, 3, 0, 10, 0, 2}}};
    std::vector<std::int64_t> distance, flows;
    for (int i = 0; i < 12; ++i) {
        for (int j = 0; j < 12; ++j) {
            distance.push_back(std::abs(i / 4 - j / 4) + std::abs(i % 4 - j % 4));
            flows.push_back(i == j ? 0
                                   : flow[static_cast<std::size_t>(std::max(i, j))]
                                         [static_cast<std::size_t>(std::min(i, j))]);
        }
    }
    return {12, std::move(distance), std::move(flows)};
}

qap::QapResult solve(const qap::Qap& qap, std::uint64_t work, std::uint64_t seed = 1, int threads = 1,
                     std::span<const std::uint32_t> start = {}) {
    Budget budget;
    budget.work = work;
    Meter meter(budget);
    qap::QapSolveOptions options;
    options.seed = seed;
    options.threads = threads;
    return qap::solve_qap(qap, start, meter, options);
}

}  // namespace

TEST_CASE("small problems are solved to the best of all permutations") {
    for (std::size_t n = 1; n <= 7; ++n) {
        for (const bool symmetric : {true, false}) {
            const qap::Qap qap = random_qap(n, n, symmetric);
            const qap::QapResult result = solve(qap, 100'000);
            CHECK_NOTHROW(qap::require_permutation(result.assignment, n));
            CHECK(qap.value(result.assignment) == result.value);
            CHECK(result.value == min_value_of_all(qap));
        }
    }
}

TEST_CASE("the optimum of Nugent's twelve facilities is found, and a target value ends the search") {
    const qap::Qap qap = nugent12();
    Budget budget;
    budget.work = std::uint64_t{1} << 40;  // a budget that would last for minutes
    Meter meter(budget);
    qap::QapSolveOptions options;
    options.target = 578;
    const qap::QapResult result = qap::solve_qap(qap, {}, meter, options);
    CHECK(result.value == 578);
    CHECK(qap.value(result.assignment) == 578);
    CHECK(!meter.is_exhausted());
}

TEST_CASE(
    "a work budget gives one assignment for any number of threads, and more work never gives a worse one") {
    for (const bool symmetric : {true, false}) {
        const qap::Qap qap = random_qap(30, 3, symmetric);
        std::int64_t before = std::numeric_limits<std::int64_t>::max();
        for (const std::uint64_t work :
             {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 20, std::uint64_t{1} << 23}) {
            const qap::QapResult one = solve(qap, work, 5, 1);
            const qap::QapResult three = solve(qap, work, 5, 3);
            CHECK(one.assignment == three.assignment);
            CHECK(one.value == three.value);
            CHECK(one.value <= before);
            before = one.value;
        }
    }
}

TEST_CASE("a search from a given assignment never returns a worse one") {
    Rng rng(9);
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const qap::Qap qap = random_qap(3 + seed * 2, seed, true);
        const qap::Permutation start = qap::random_assignment(qap.order(), rng);
        const std::int64_t given = qap.value(start);
        CHECK(solve(qap, 0, seed, 1, start).value == given);
        CHECK(solve(qap, 1, seed, 1, start).value <= given);
    }
    CHECK_THROWS_AS((void)solve(random_qap(3, 1, true), 1, 1, 1, qap::Permutation{0, 0, 1}), Error);
}

TEST_CASE("for problems in which all items are twins, the start is returned at once") {
    const qap::Qap qap(5, std::vector<std::int64_t>(25, 3), std::vector<std::int64_t>(25, 2));
    CHECK(solve(qap, 1000).value == 25 * 6);
}

TEST_CASE("crossover keeps what the parents have in common, after their twins are aligned") {
    Rng rng(4);
    for (int trial = 0; trial < 50; ++trial) {
        const qap::Permutation p = qap::random_assignment(12, rng);
        const qap::Permutation q = qap::perturb(p, 5, rng);
        const qap::Permutation make_child = qap::uniform_crossover(p, q, rng);
        CHECK_NOTHROW(qap::require_permutation(make_child, 12));
        for (std::size_t i = 0; i < 12; ++i) {
            if (p[i] == q[i]) CHECK(make_child[i] == p[i]);
        }
    }
    const std::vector<std::uint32_t> twins{0, 0, 2, 3};
    const std::vector<std::uint32_t> all_different{0, 1, 2, 3};
    qap::QapPool pool(twins, all_different, 4, 1);
    CHECK(pool.align_twins({0, 1, 2, 3}, {1, 0, 3, 2}) == qap::Permutation{0, 1, 3, 2});
    CHECK(pool.offer({{0, 1, 2, 3}, 10}));
    CHECK(!pool.offer({{1, 0, 2, 3}, 10}));  // equal to the first, except that twins are exchanged
    CHECK(pool.offer({{1, 0, 3, 2}, 9}));
    CHECK(pool.members().front().value == 9);
}

TEST_CASE(
    "GRASP ends in a local optimum, is independent of the number of threads, and keeps a better start") {
    for (std::uint64_t seed = 1; seed < 6; ++seed) {
        const qap::Qap qap = random_qap(4 + 5 * seed, seed, seed % 2 == 0);
        const auto run = [&](int threads, std::span<const qap::Permutation> warm, std::uint64_t work) {
            Budget budget;
            budget.work = work;
            Meter meter(budget);
            dense::GraspOptions options;
            options.restarts = 5;
            return grasp(qap, warm, seed, threads, meter, options);
        };
        const std::uint64_t plenty = std::uint64_t{1} << 40;
        const qap::Permutation p = run(1, {}, plenty);
        CHECK(p == run(3, {}, plenty));
        for (std::size_t i = 0; i < qap.order(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                qap::Permutation q = p;
                std::swap(q[i], q[j]);
                CHECK(qap.value(q) >= qap.value(p));
            }
        }
        const qap::Permutation best = solve(qap, 1 << 22).assignment;
        CHECK(qap.value(run(2, std::span(&best, 1), plenty)) <= qap.value(best));
        CHECK_NOTHROW(qap::require_permutation(run(1, {}, 0), qap.order()));
        CHECK_NOTHROW(qap::require_permutation(run(1, {}, 1), qap.order()));
    }
}
