// SPDX-License-Identifier: BSD-3-Clause
// Dense quadratic assignment: values, and gains of exchanges that are updated incrementally, compared with
// the definition.
#include <doctest.h>

#include <algorithm>
#include <numeric>

#include "topoloom/base/error.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/qap/qap.hpp"
#include "topoloom/qap/qap_moves.hpp"

using namespace topoloom;

namespace {

enum class Shape { symmetric, one_symmetric, asymmetric };

std::vector<std::int64_t> random_matrix(std::size_t n, Rng& rng, bool symmetric, bool diagonal,
                                        std::uint32_t most) {
    std::vector<std::int64_t> m(n * n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j)
            m[i * n + j] = static_cast<std::int64_t>(rng.below(most)) - most / 3;
        if (!diagonal) m[i * n + i] = 0;
    }
    for (std::size_t i = 0; symmetric && i < n; ++i) {
        for (std::size_t j = 0; j < i; ++j) m[i * n + j] = m[j * n + i];
    }
    return m;
}

qap::Qap random_qap(std::size_t n, std::uint64_t seed, Shape shape, bool diagonal, std::uint32_t most) {
    Rng rng(seed);
    auto a = random_matrix(n, rng, shape != Shape::asymmetric, diagonal, most);
    auto b = random_matrix(n, rng, shape == Shape::symmetric, diagonal, most);
    if (seed % 2 == 1) a.swap(b);
    std::vector<std::int64_t> linear;
    if (diagonal && seed % 4 < 2) linear = random_matrix(n, rng, false, true, most * most);
    return {n, std::move(a), std::move(b), std::move(linear)};
}

qap::Permutation random_permutation(std::size_t n, Rng& rng) {
    qap::Permutation p(n);
    std::iota(p.begin(), p.end(), 0U);
    rng.shuffle(std::span<std::uint32_t>(p));
    return p;
}

std::int64_t exchange_delta(const qap::Qap& qap, qap::Permutation p, std::size_t i, std::size_t j) {
    const std::int64_t before = qap.value(p);
    std::swap(p[i], p[j]);
    return qap.value(p) - before;
}

/// Makes random exchanges and checks after each that all gains equal their definition.
template <class T>
void check_moves(const qap::Qap& qap, std::uint64_t seed) {
    const qap::NormalizedQap form(qap);
    const qap::QapTables<T> tables(form);
    qap::QapMoves<T> moves(tables);
    Rng rng(seed, 1);
    const auto n = static_cast<std::uint32_t>(qap.order());
    moves.start(random_permutation(n, rng));
    for (int step = 0; step < 12; ++step) {
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        for (std::uint32_t i = 0; i < n; ++i) {
            for (std::uint32_t j = 0; j < i; ++j) {
                const std::int64_t delta = exchange_delta(qap, moves.assignment(), i, j);
                REQUIRE(static_cast<std::int64_t>(moves.delta(i, j)) * form.factor == delta);
                const auto& items = tables.item_class;
                const auto& places = tables.location_class;
                const auto& p = moves.assignment();
                if (items[i] == items[j] || places[p[i]] == places[p[j]]) {
                    REQUIRE(delta == 0);
                } else {
                    least = std::min(least, delta);
                }
            }
        }
        if (least < std::numeric_limits<std::int64_t>::max()) {
            REQUIRE(static_cast<std::int64_t>(moves.min_any()) * form.factor == least);
            const auto move = moves.find_any(rng.below(n));
            CHECK(moves.delta(move.i, move.j) == moves.min_any());
        }
        const std::uint32_t i = rng.below(n);
        const std::uint32_t j = (i + 1 + rng.below(n - 1)) % n;
        moves.exchange(i, j, T{1000});
        CHECK(moves.min_free() == moves.min_any());
    }
}

}  // namespace

TEST_CASE("gains of all exchanges stay exact after any moves, for every kind of matrix and number type") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        for (const Shape shape : {Shape::symmetric, Shape::one_symmetric, Shape::asymmetric}) {
            for (const bool diagonal : {false, true}) {
                CAPTURE(seed);
                CAPTURE(diagonal);
                // With few distinct entries, items are interchangeable and entries have common factors.
                const qap::Qap qap = random_qap(2 + seed * 2, seed, shape, diagonal, seed % 3 == 0 ? 3 : 100);
                check_moves<std::int32_t>(qap, seed);
                check_moves<std::int64_t>(qap, seed);
                check_moves<double>(qap, seed);
            }
        }
    }
}

TEST_CASE("numbers beyond 32 bits use a wider type") {
    const std::size_t n = 12;
    const std::int64_t large = 1'000'000;
    const qap::Qap small = random_qap(n, 5, Shape::symmetric, false, 100);
    std::vector<std::int64_t> a(small.a().begin(), small.a().end());
    std::vector<std::int64_t> b(small.b().begin(), small.b().end());
    const auto type_of = [](const qap::Qap& qap) {
        return qap::with_qap_type(qap::NormalizedQap(qap), []<class T>(T) {
            return std::is_same_v<T, double> ? 1 : std::is_integral_v<T> && sizeof(T) == 8 ? 2 : 0;
        });
    };
    CHECK(type_of(qap::Qap(n, a, b)) == 0);
    for (auto& v : a) v *= large;
    a[1] += 1;
    a[n] += 1;
    CHECK(type_of(qap::Qap(n, a, b)) == 1);
    for (auto& v : b) v *= large;
    b[1] += 1;
    b[n] += 1;
    const qap::Qap wide(n, a, b);
    CHECK(type_of(wide) == 2);
    check_moves<std::int64_t>(wide, 1);
    for (auto& v : b) v *= large;
    CHECK_THROWS_AS(qap::Qap(n, a, b), Error);
}

TEST_CASE("twins are items whose exchange never changes the value") {
    const std::vector<std::int64_t> m{0, 1, 1, 5,  //
                                      1, 0, 1, 5,  //
                                      1, 1, 0, 4,  //
                                      5, 5, 4, 0};
    CHECK(qap::twin_classes(4, m) == std::vector<std::uint32_t>{0, 0, 2, 3});
}

TEST_CASE("linear costs are included, and only items of equal linear cost are twins") {
    const std::vector<std::int64_t> constant(9, 4);
    const std::vector<std::int64_t> linear{1, 2, 3, 1, 2, 3, 6, 5, 6};
    const qap::Qap qap(3, constant, constant, linear);
    CHECK(qap.value(qap::Permutation{0, 1, 2}) == 9 * 16 + 1 + 2 + 6);
    CHECK(qap.value(qap::Permutation{2, 0, 1}) == 9 * 16 + 3 + 1 + 5);
    CHECK(qap::twin_classes(3, constant, linear) == std::vector<std::uint32_t>{0, 0, 2});
    CHECK_THROWS_AS(qap::Qap(3, constant, constant, {1, 2}), Error);
    CHECK_THROWS_AS(qap::Qap(3, constant, constant, std::vector<std::int64_t>(9, std::int64_t{1} << 60)),
                    Error);
}

TEST_CASE("invalid assignments are refused") {
    CHECK_NOTHROW(qap::require_permutation(qap::Permutation{1, 0, 2}, 3));
    CHECK_THROWS_WITH_AS(qap::require_permutation(qap::Permutation{1, 0}, 3),
                         "the assignment has 2 items, but the problem has 3", Error);
    CHECK_THROWS_WITH_AS(qap::require_permutation(qap::Permutation{1, 3, 0}, 3),
                         "the assignment uses location 3 of 3", Error);
    CHECK_THROWS_WITH_AS(qap::require_permutation(qap::Permutation{1, 1, 0}, 3),
                         "the assignment uses location 1 twice", Error);
    CHECK_THROWS_AS(qap::Qap(0, {}, {}), Error);
    CHECK_THROWS_AS(qap::Qap(2, {0, 1, 1}, {0, 1, 1, 0}), Error);
}
